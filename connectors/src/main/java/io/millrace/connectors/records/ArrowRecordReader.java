// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.ipc.ArrowIpcStreamReader;
import io.millrace.column.Column;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TableConcatenation;
import io.millrace.device.HostMemory;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordReader;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadableByteChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** Reads records in host memory, each an Arrow IPC stream, into a table on the device. */
final class ArrowRecordReader implements RecordReader {
  private final Schema schema;
  private final DeviceContext context;
  private final HostTransfer transfer;

  ArrowRecordReader(Schema schema, DeviceContext context) {
    this.schema = schema;
    this.context = context;
    this.transfer = new HostTransfer(context);
  }

  @Override
  public ParsedRecords read(RecordBytes records) {
    List<Table> tables = new ArrayList<>();
    List<MalformedRecord> malformed = new ArrayList<>();
    int[] recordOfTable = new int[records.count()];
    try (AccessScope scope = AccessScope.on(context.hostStream())) {
      long bytes = records.bytes().access(AccessMode.READ, scope);
      long positions = records.positions().access(AccessMode.READ, scope);
      for (int record = 0; record < records.count(); record++) {
        int start = HostMemory.getInt(positions + (long) record * Integer.BYTES);
        int end = HostMemory.getInt(positions + (record + 1L) * Integer.BYTES);
        int before = tables.size();
        try {
          readStream(new MemoryChannel(bytes + start, end - start), end - start, tables);
          recordOfTable =
              Arrays.copyOf(recordOfTable, Math.max(recordOfTable.length, tables.size()));
          Arrays.fill(recordOfTable, before, tables.size(), record);
        } catch (IOException | IllegalArgumentException e) {
          closeFrom(before, tables);
          malformed.add(new MalformedRecord(record, start, end - start, 0, e.getMessage()));
        }
      }
      Table table = tables.size() == 1 ? tables.get(0).share() : concatenate(tables);
      int[] recordOfRow = recordOfRow(tables, recordOfTable);
      return new ParsedRecords(transfer.upload(table), malformed, recordOfRow);
    } finally {
      closeFrom(0, tables);
    }
  }

  private Table concatenate(List<Table> tables) {
    return TableConcatenation.concatenate(
        schema, tables, context.hostStream(), context.pinnedResource());
  }

  private void readStream(ReadableByteChannel channel, int length, List<Table> tables)
      throws IOException {
    try (ArrowIpcStreamReader reader =
        new ArrowIpcStreamReader(channel, context.hostStream(), context.pinnedResource(), length)) {
      if (!reader.schema().names().equals(schema.names())) {
        throw new ArrowFormatException(
            "expected the columns " + schema.names() + ", got " + reader.schema().names());
      }
      for (Optional<Table> table = reader.read(); table.isPresent(); table = reader.read()) {
        tables.add(ofSchema(table.get()));
      }
    }
  }

  /** Takes ownership of a table, whose columns may lack NOT NULL. */
  private Table ofSchema(Table table) {
    try (table) {
      // A column knows only then that it has no nulls.
      table.columns().forEach(column -> column.nullCount(context.hostStream()));
      return table.withColumns(schema, table.columns().stream().map(Column::share).toList());
    }
  }

  private static int[] recordOfRow(List<Table> tables, int[] recordOfTable) {
    int[] records = new int[tables.stream().mapToInt(Table::rowCount).sum()];
    int row = 0;
    for (int i = 0; i < tables.size(); i++) {
      int end = row + tables.get(i).rowCount();
      Arrays.fill(records, row, end, recordOfTable[i]);
      row = end;
    }
    return records;
  }

  private static void closeFrom(int first, List<Table> tables) {
    List<Table> closed = tables.subList(first, tables.size());
    closed.forEach(Table::close);
    closed.clear();
  }

  @Override
  public void close() {
    transfer.close();
  }

  /** The bytes of host memory, once. */
  private static final class MemoryChannel implements ReadableByteChannel {
    private final long address;
    private final int length;
    private int position;

    MemoryChannel(long address, int length) {
      this.address = address;
      this.length = length;
    }

    @Override
    public int read(ByteBuffer target) {
      int bytes = Math.min(target.remaining(), length - position);
      if (bytes == 0) {
        return target.hasRemaining() ? -1 : 0;
      }
      target.put(HostMemory.byteBuffer(address + position, bytes));
      position += bytes;
      return bytes;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }
}
