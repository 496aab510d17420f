// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.ColumnReader;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.parquet.ColumnStriper.LeafWriter;
import io.millrace.memory.AccessScope;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.parquet.column.ColumnDescriptor;
import org.apache.parquet.column.ColumnWriteStore;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.apache.parquet.column.impl.ColumnWriteStoreV1;
import org.apache.parquet.column.impl.ColumnWriteStoreV2;
import org.apache.parquet.format.ColumnChunk;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.schema.MessageType;

/**
 * Encodes the rows of tables as a row group, column by column. Pages are compressed as they fill;
 * the Java heap holds them until the row group is finished. Used by one thread.
 */
final class RowGroupWriter {
  // The size of pages is checked after so many rows.
  private static final int ROWS_AT_ONCE = 1024;
  // What the library's writer of a leaf with a dictionary takes for its first value, as measured.
  private static final long LEAF_HEAP_BYTES = 42 << 10;

  private final ParquetSchema schema;
  private final ParquetWriterOptions options;
  private final Map<ColumnDescriptor, ColumnChunkBuffer> chunks = new LinkedHashMap<>();
  private final ColumnWriteStore columns;
  private final List<List<ColumnStriper>> stripers = new ArrayList<>();
  private long rows;

  RowGroupWriter(Schema schema, ParquetWriterOptions options) {
    this.schema = ParquetSchema.of(schema);
    this.options = options;
    MessageType message = this.schema.messageType();
    for (ColumnDescriptor column : message.getColumns()) {
      chunks.put(column, new ColumnChunkBuffer(column, options.compression()));
    }
    ParquetProperties properties =
        ParquetProperties.builder()
            .withWriterVersion(options.version())
            .withPageSize(options.pageBytes())
            .withDictionaryEncoding(options.dictionary())
            .withSizeStatisticsEnabled(false)
            .build();
    this.columns =
        options.version() == WriterVersion.PARQUET_1_0
            ? new ColumnWriteStoreV1(message, chunks::get, properties)
            : new ColumnWriteStoreV2(message, chunks::get, properties);
    List<LeafWriter> leaves = new ArrayList<>();
    chunks
        .keySet()
        .forEach(column -> leaves.add(new LeafWriter(column, columns.getColumnWriter(column))));
    schema.fields().forEach(field -> stripers.add(ColumnStriper.of(field, leaves)));
  }

  /**
   * Adds all rows of {@code table}. Memory is asked for before the first row is added.
   *
   * @param table in host memory, of the schema; stays the caller's
   * @param scope on a host stream
   */
  void add(Table table, AccessScope scope) {
    List<ColumnReader> readers =
        table.columns().stream().map(column -> new ColumnReader(column, scope)).toList();
    for (int start = 0; start < table.rowCount(); start += ROWS_AT_ONCE) {
      int end = Math.min(start + ROWS_AT_ONCE, table.rowCount());
      for (int i = 0; i < readers.size(); i++) {
        for (ColumnStriper striper : stripers.get(i)) {
          striper.write(readers.get(i), start, end);
        }
      }
      for (int row = start; row < end; row++) {
        columns.endRecord();
      }
    }
    rows += table.rowCount();
  }

  /** Whether the row group has as many bytes as it is to have. */
  boolean isFull() {
    return sizeInBytes() >= options.rowGroupBytes();
  }

  /** The bytes that the row group has so far. */
  long sizeInBytes() {
    long finished = chunks.values().stream().mapToLong(ColumnChunkBuffer::getMemSize).sum();
    return finished + columns.getBufferedSize();
  }

  /** About the bytes of the Java heap that the row group takes. */
  long heapBytes() {
    return sizeInBytes() + chunks.size() * LEAF_HEAP_BYTES;
  }

  /** The rows as a Parquet file of one row group. Called once, at the end. */
  byte[] finish() throws IOException {
    columns.flush();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(ParquetFooter.magic());
    List<ColumnChunk> written = new ArrayList<>();
    long uncompressedBytes = 0;
    for (ColumnChunkBuffer chunk : chunks.values()) {
      ColumnChunk metadata = chunk.writeTo(out, out.size());
      written.add(metadata);
      uncompressedBytes += metadata.getMeta_data().getTotal_uncompressed_size();
    }
    RowGroup rowGroup = new RowGroup(written, uncompressedBytes, rows);
    rowGroup.setTotal_compressed_size((long) out.size() - ParquetFooter.MAGIC_BYTES);
    rowGroup.setFile_offset(ParquetFooter.MAGIC_BYTES);
    ParquetFooter.write(out, schema.elements(), List.of(rowGroup));
    columns.close();
    return out.toByteArray();
  }
}
