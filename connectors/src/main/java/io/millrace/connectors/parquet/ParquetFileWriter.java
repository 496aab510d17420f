// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.SchemaElement;

/**
 * Joins Parquet files of one schema to one file: their row groups, one after the other, and a
 * footer. Only footers stay in memory. The stream is closed by whoever opened it.
 */
final class ParquetFileWriter implements BulkWriter<byte[]> {
  private final FSDataOutputStream out;
  private final List<RowGroup> rowGroups = new ArrayList<>();
  // Of the first file; null before.
  private List<SchemaElement> schema;

  ParquetFileWriter(FSDataOutputStream out) throws IOException {
    this.out = out;
    out.write(ParquetFooter.magic());
  }

  /**
   * @throws IOException if {@code file} is not a Parquet file of the schema of the files before
   */
  @Override
  public void addElement(byte[] file) throws IOException {
    FileMetaData metadata = ParquetFooter.read("a file in memory", file);
    if (schema == null) {
      schema = metadata.getSchema();
    } else if (!schema.equals(metadata.getSchema())) {
      throw new IOException(
          "expected a file of the columns " + schema + ", got " + metadata.getSchema());
    }
    for (RowGroup rowGroup : metadata.getRow_groups()) {
      long start = ParquetFooter.offset(rowGroup);
      long offset = out.getPos();
      out.write(file, (int) start, (int) rowGroup.getTotal_compressed_size());
      ParquetFooter.move(rowGroup, offset - start);
      rowGroups.add(rowGroup);
    }
  }

  @Override
  public void flush() throws IOException {
    out.flush();
  }

  @Override
  public void finish() throws IOException {
    ParquetFooter.write(out, schema, rowGroups);
    out.flush();
  }
}
