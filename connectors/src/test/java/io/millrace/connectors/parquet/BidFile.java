// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.nexmark.BidTables;
import io.millrace.connectors.nexmark.NexmarkConfiguration;
import io.millrace.connectors.nexmark.NexmarkGenerator;
import io.millrace.connectors.nexmark.NexmarkSchemas;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import io.millrace.operators.context.DeviceContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.fs.FSDataInputStream;
import org.apache.flink.runtime.state.memory.ByteStreamStateHandle;
import org.apache.parquet.format.FileMetaData;
import org.apache.parquet.format.RowGroup;

/** Generated bids as a Parquet file in memory, and its row groups as the source reads them. */
final class BidFile {
  static final Schema SCHEMA = NexmarkSchemas.BID;

  private static final String NAME = "bids.parquet";
  private static final int ROWS_AT_ONCE = 1 << 16;

  private final byte[] bytes;
  private final ParquetSchema columns;
  private final List<RowGroup> rowGroups;

  private BidFile(byte[] bytes) throws IOException {
    FileMetaData metadata = ParquetFooter.read(NAME, bytes);
    this.bytes = bytes;
    this.columns = ParquetSchema.of(metadata.getSchema());
    this.rowGroups = metadata.getRow_groups();
  }

  /** The first {@code rows} bids, the same for the same number, as the sink writes them. */
  static BidFile write(int rows, ParquetWriterOptions options) throws IOException {
    Path file = Files.createTempFile("bids", ".parquet");
    try {
      ParquetFiles.write(file, rowGroups(rows, options));
      return new BidFile(Files.readAllBytes(file));
    } finally {
      Files.delete(file);
    }
  }

  private static List<byte[]> rowGroups(int rows, ParquetWriterOptions options) throws IOException {
    List<byte[]> finished = new ArrayList<>();
    RowGroupWriter writer = new RowGroupWriter(SCHEMA, options);
    try (DeviceStream stream = HostDevice.INSTANCE.createStream();
        BidTables bids =
            new BidTables(
                new NexmarkGenerator(NexmarkConfiguration.DEFAULT),
                stream,
                HostMemoryResource.INSTANCE)) {
      for (int first = 0; first < rows; first += ROWS_AT_ONCE) {
        try (Table table = bids.generate(first, Math.min(ROWS_AT_ONCE, rows - first));
            AccessScope scope = AccessScope.on(stream)) {
          writer.add(table, scope);
        }
        if (writer.isFull() || first + ROWS_AT_ONCE >= rows) {
          finished.add(writer.finish());
          writer = new RowGroupWriter(SCHEMA, options);
        }
      }
    }
    return finished;
  }

  byte[] bytes() {
    return bytes;
  }

  int rowGroups() {
    return rowGroups.size();
  }

  /**
   * Reads and decodes a row group as the source's reader and the operator behind it do, up to the
   * table, whose columns may still be written on the context's stream.
   *
   * @return a table of {@link #SCHEMA} on the context's device, which the caller closes
   */
  Table read(int rowGroup, DeviceContext context) throws IOException {
    byte[] message;
    try (FSDataInputStream in = new ByteStreamStateHandle(NAME, bytes).openInputStream()) {
      message =
          RowGroupFile.read(NAME, in, rowGroups.get(rowGroup), columns, columns.tableColumns());
    }
    ParquetMessageDecoder decoder = new ParquetMessageDecoder(SCHEMA);
    return context
        .retry()
        .withRetry(
            () -> {
              try {
                return decoder.decode(message, context);
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
  }
}
