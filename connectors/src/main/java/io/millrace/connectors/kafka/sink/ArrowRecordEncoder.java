// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.arrow.ipc.ArrowIpcStreamWriter;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes a record for each batch: its value is an Arrow IPC stream of one record batch, which can
 * be read without other records. A batch whose record would be too large is written in parts.
 */
@PublicEvolving
public final class ArrowRecordEncoder implements RecordEncoder {
  private static final long serialVersionUID = 1L;

  // Kafka's producers and brokers allow 1 MiB, with the key and what they add.
  private static final int MAX_BYTES = 1_000_000;

  private final int maximumBytes;

  private ArrowRecordEncoder(int maximumBytes) {
    this.maximumBytes = maximumBytes;
  }

  /** Records of up to 1,000,000 bytes, which producers and brokers allow by default. */
  public static ArrowRecordEncoder create() {
    return new ArrowRecordEncoder(MAX_BYTES);
  }

  /** Records of up to {@code bytes}; a record of a single row may have more. */
  public ArrowRecordEncoder withMaximumBytes(int bytes) {
    return new ArrowRecordEncoder(bytes);
  }

  @Override
  public List<KafkaRecord> records(Table table, AccessScope scope) {
    List<KafkaRecord> records = new ArrayList<>();
    encode(table, scope, records);
    return records;
  }

  private void encode(Table table, AccessScope scope, List<KafkaRecord> records) {
    ByteCounter counter = new ByteCounter();
    write(table, counter, scope);
    if (counter.bytes <= maximumBytes || table.rowCount() <= 1) {
      ByteArrayChannel record = new ByteArrayChannel(Math.toIntExact(counter.bytes));
      write(table, record, scope);
      records.add(new KafkaRecord(null, record.bytes.array(), KafkaRecord.NO_TIMESTAMP));
      return;
    }
    // Rows differ in length, so parts are made smaller than they need to be if rows did not.
    long parts = counter.bytes / (maximumBytes - maximumBytes / 16) + 1;
    int rows = (int) Math.max(1, table.rowCount() / parts);
    for (int start = 0; start < table.rowCount(); start += rows) {
      try (Table part = table.slice(start, Math.min(rows, table.rowCount() - start))) {
        encode(part, scope, records);
      }
    }
  }

  private static void write(Table table, WritableByteChannel channel, AccessScope scope) {
    try (ArrowIpcStreamWriter writer =
        new ArrowIpcStreamWriter(
            table.schema(), channel, scope.stream(), HostMemoryResource.INSTANCE)) {
      writer.write(table);
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
  }

  /** Only counts: a record's array is then made as large as the record. */
  private static final class ByteCounter implements WritableByteChannel {
    private long bytes;

    @Override
    public int write(ByteBuffer source) {
      int length = source.remaining();
      source.position(source.limit());
      bytes += length;
      return length;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  private static final class ByteArrayChannel implements WritableByteChannel {
    private final ByteBuffer bytes;

    ByteArrayChannel(int length) {
      this.bytes = ByteBuffer.allocate(length);
    }

    @Override
    public int write(ByteBuffer source) {
      int length = source.remaining();
      bytes.put(source);
      return length;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }
}
