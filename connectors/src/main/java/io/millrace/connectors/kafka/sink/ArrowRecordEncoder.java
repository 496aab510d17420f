// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.arrow.ipc.ArrowIpcStreamWriter;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.memory.resource.HostMemoryResource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Writes a record for each batch: its value is an Arrow IPC stream of one record batch, which can
 * be read without other records. A batch is halved until its records are small enough.
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
    byte[] stream = stream(table, scope);
    List<Table> halves = stream.length > maximumBytes ? table.halves() : List.of();
    if (halves.isEmpty()) {
      records.add(new KafkaRecord(null, stream, KafkaRecord.NO_TIMESTAMP));
      return;
    }
    try (Table first = halves.get(0);
        Table second = halves.get(1)) {
      encode(first, scope, records);
      encode(second, scope, records);
    }
  }

  private static byte[] stream(Table table, AccessScope scope) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ArrowIpcStreamWriter writer =
        new ArrowIpcStreamWriter(
            table.schema(),
            Channels.newChannel(out),
            scope.stream(),
            HostMemoryResource.INSTANCE)) {
      writer.write(table);
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory failed", e);
    }
    return out.toByteArray();
  }
}
