// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;

/** Blocks of records as a reader makes them. */
final class Blocks {
  static final String TOPIC = "topic";
  static final RecordBlockOptions OPTIONS =
      new RecordBlockOptions(List.of("trace"), 100, TombstonePolicy.MALFORMED);

  private Blocks() {}

  /** A block of these values, whose offsets begin with {@code offset}; null is a tombstone. */
  static RecordBlock of(int partition, long offset, String... values) {
    List<RecordBlock> blocks =
        ofBytes(
            partition,
            offset,
            OPTIONS,
            Arrays.stream(values).map(value -> value == null ? null : bytes(value)).toList());
    if (blocks.size() != 1) {
      throw new IllegalArgumentException("expected values of one block, got " + blocks.size());
    }
    return blocks.get(0);
  }

  /** The blocks of values, of which null is a tombstone. */
  static List<RecordBlock> ofBytes(
      int partition, long offset, RecordBlockOptions options, List<byte[]> values) {
    RecordBlockBuilder builder =
        new RecordBlockBuilder(new TopicPartition(TOPIC, partition), options, new RecordLimit());
    for (int i = 0; i < values.size(); i++) {
      builder.add(record(partition, offset + i, values.get(i)));
    }
    return List.copyOf(builder.finish());
  }

  /** A record with a key and a header where its offset is even. */
  static ConsumerRecord<byte[], byte[]> record(int partition, long offset, String value) {
    return record(partition, offset, value == null ? null : bytes(value));
  }

  private static ConsumerRecord<byte[], byte[]> record(int partition, long offset, byte[] bytes) {
    byte[] key = offset % 2 == 0 ? bytes("key " + offset) : null;
    RecordHeaders headers = new RecordHeaders();
    if (offset % 2 == 0) {
      headers.add("trace", bytes("trace " + offset));
    }
    return new ConsumerRecord<>(
        TOPIC,
        partition,
        offset,
        1_000 + offset,
        TimestampType.CREATE_TIME,
        key == null ? -1 : key.length,
        bytes == null ? -1 : bytes.length,
        key,
        bytes,
        headers,
        Optional.empty());
  }

  static RecordBlock begin(int partition) {
    return RecordBlock.note(RecordBlock.Kind.BEGIN, TOPIC, partition);
  }

  static RecordBlock end(int partition) {
    return RecordBlock.note(RecordBlock.Kind.END, TOPIC, partition);
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The value of a record. */
  static String value(RecordBlock block, int record) {
    int start = block.position(record);
    return new String(
        block.bytes(), start, block.position(record + 1) - start, StandardCharsets.UTF_8);
  }
}
