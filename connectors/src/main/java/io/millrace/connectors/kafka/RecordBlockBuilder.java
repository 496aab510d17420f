// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;

/** Puts the records of a partition into blocks. Used by one thread. */
final class RecordBlockBuilder {
  /**
   * The most bytes of the values of a block, unless a single record is larger. Arrays of 512 KiB
   * and more may be humongous objects for the garbage collector G1, each of which makes it mark the
   * whole heap the sooner.
   */
  static final int MAX_BYTES = 500_000;

  private static final int MIN_BYTES = 1 << 16;

  private final TopicPartition partition;
  private final RecordBlockOptions options;
  private final RecordLimit limit;
  private final List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
  private final List<MalformedKafkaRecord> rejected = new ArrayList<>();
  private final List<RecordBlock> finished = new ArrayList<>();
  private byte[] values = new byte[MIN_BYTES];
  private int bytes;
  private long nextOffset = RecordBlock.NO_OFFSET;

  RecordBlockBuilder(TopicPartition partition, RecordBlockOptions options, RecordLimit limit) {
    this.partition = partition;
    this.options = options;
    this.limit = limit;
  }

  void add(ConsumerRecord<byte[], byte[]> record) {
    byte[] value = record.value();
    if (value == null) {
      if (options.tombstones() == TombstonePolicy.MALFORMED) {
        reject(record, null, "the record has no value");
      }
    } else if (value.length > options.maximumRecordBytes()) {
      reject(
          record,
          Arrays.copyOf(value, options.maximumRecordBytes()),
          "the record has "
              + value.length
              + " bytes, "
              + options.maximumRecordBytes()
              + " are allowed");
    } else {
      if (!records.isEmpty() && bytes + value.length > MAX_BYTES) {
        finishBlock();
      }
      append(value);
      records.add(record);
    }
    nextOffset = record.offset() + 1;
  }

  // Now, while the value is in the processor's cache.
  private void append(byte[] value) {
    int end = bytes + value.length;
    if (end > values.length) {
      values = Arrays.copyOf(values, Math.max(end, Math.min(2 * values.length, MAX_BYTES)));
    }
    System.arraycopy(value, 0, values, bytes, value.length);
    bytes = end;
  }

  private void reject(ConsumerRecord<byte[], byte[]> record, byte[] value, String reason) {
    rejected.add(
        new MalformedKafkaRecord(
            record.topic(),
            record.partition(),
            record.offset(),
            record.timestamp(),
            record.key(),
            value,
            reason));
  }

  /** The blocks of all records, in their order. */
  List<RecordBlock> finish() {
    if (nextOffset != RecordBlock.NO_OFFSET) {
      finishBlock();
    }
    return finished;
  }

  private void finishBlock() {
    finished.add(
        RecordBlock.of(
            partition.topic(), partition.partition(), nextOffset, arrays(), rejected, limit));
    records.clear();
    rejected.clear();
    bytes = 0;
  }

  private RecordArrays arrays() {
    int count = records.size();
    int[] positions = new int[count + 1];
    long[] offsets = new long[count];
    long[] timestamps = new long[count];
    byte[][] keys = new byte[count][];
    byte[][][] headers = new byte[options.headers().size()][count][];
    for (int i = 0; i < count; i++) {
      ConsumerRecord<byte[], byte[]> record = records.get(i);
      positions[i + 1] = positions[i] + record.value().length;
      offsets[i] = record.offset();
      timestamps[i] = record.timestamp();
      keys[i] = record.key();
      for (int header = 0; header < headers.length; header++) {
        Header last = record.headers().lastHeader(options.headers().get(header));
        headers[header][i] = last == null ? null : last.value();
      }
    }
    return new RecordArrays(
        Arrays.copyOf(values, bytes), positions, offsets, timestamps, keys, headers);
  }
}
