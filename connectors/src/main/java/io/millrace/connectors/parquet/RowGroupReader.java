// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.connectors.files.message.MessageParts;
import io.millrace.connectors.files.message.MessageRows;
import io.millrace.connectors.files.message.MessageRows.RowLimit;
import io.millrace.connectors.files.scan.ScanEnd;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.parquet.format.RowGroup;

/**
 * Reads the row groups of a split one after the other, and cuts them into as many rows as the
 * operator behind takes at once. Reads the chunks of the selected columns alone, and of row groups
 * that may have rows of the filter.
 */
final class RowGroupReader implements BulkFormat.Reader<MessageRows> {
  private final String path;
  private final FSDataInputStream input;
  private final ParquetSchema schema;
  private final List<ParquetColumn> columns;
  private final RowLimit limit;
  private final Deque<RowGroup> rowGroups;
  private final long end;
  private long rowsToSkip;

  /**
   * @param input closed with this reader
   * @param schema of the selected columns
   * @param rowGroups to read, in the order of the file
   * @param rowsToSkip rows of the first of them that were read before
   * @param end offset behind them
   * @param scanEnd of the subtask's readers
   */
  RowGroupReader(
      String path,
      FSDataInputStream input,
      ParquetSchema schema,
      List<RowGroup> rowGroups,
      long rowsToSkip,
      long end,
      ScanEnd scanEnd) {
    this.path = path;
    this.input = input;
    this.schema = schema;
    this.columns = schema.tableColumns();
    this.rowGroups = new ArrayDeque<>(rowGroups);
    this.rowsToSkip = rowsToSkip;
    this.end = end;
    this.limit = new RowLimit(scanEnd);
  }

  @Override
  public BulkFormat.RecordIterator<MessageRows> readBatch() throws IOException {
    RowGroup rowGroup = rowGroups.poll();
    if (rowGroup == null || limit.isEnded()) {
      return null;
    }
    long rows = rowGroup.getNum_rows();
    if (rows < rowsToSkip || rows > Integer.MAX_VALUE) {
      throw new IOException(
          path + ": a row group has " + rows + " rows, of which " + rowsToSkip + " were read");
    }
    byte[] file = RowGroupFile.read(path, input, rowGroup, schema, columns);
    long next = rowGroups.isEmpty() ? end : ParquetFooter.offset(rowGroups.peek());
    int firstRow = (int) rowsToSkip;
    rowsToSkip = 0;
    return new MessageParts(
        path, file, firstRow, (int) rows, ParquetFooter.offset(rowGroup), next, limit);
  }

  @Override
  public void close() throws IOException {
    input.close();
  }
}
