// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import java.util.List;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Records of a partition that follow each other, or the note that a reader begins or ends the
 * partition. Immutable: the arrays are shared, nobody writes them. May be a part of a larger block,
 * with the same arrays.
 */
@PublicEvolving
public final class RecordBlock {
  /** The {@link #nextOffset} of a block that does not move it. */
  static final long NO_OFFSET = -1;

  /** What a block says of its partition. */
  enum Kind {
    BEGIN,
    RECORDS,
    END
  }

  private final Kind kind;
  private final String topic;
  private final int partition;
  private final long nextOffset;
  private final RecordArrays records;
  private final int first;
  private final int count;
  private final List<MalformedKafkaRecord> rejected;
  private final RecordLimit limit;

  private RecordBlock(
      Kind kind,
      String topic,
      int partition,
      long nextOffset,
      RecordArrays records,
      int first,
      int count,
      List<MalformedKafkaRecord> rejected,
      RecordLimit limit) {
    this.kind = kind;
    this.topic = topic;
    this.partition = partition;
    this.nextOffset = nextOffset;
    this.records = records;
    this.first = first;
    this.count = count;
    this.rejected = List.copyOf(rejected);
    this.limit = limit;
  }

  /** Records of a partition. */
  static RecordBlock of(
      String topic,
      int partition,
      long nextOffset,
      RecordArrays records,
      List<MalformedKafkaRecord> rejected,
      RecordLimit limit) {
    return new RecordBlock(
        Kind.RECORDS, topic, partition, nextOffset, records, 0, records.count(), rejected, limit);
  }

  /** The note that a reader begins or ends a partition. */
  static RecordBlock note(Kind kind, String topic, int partition) {
    return new RecordBlock(
        kind, topic, partition, NO_OFFSET, RecordArrays.EMPTY, 0, 0, List.of(), new RecordLimit());
  }

  /**
   * Some of the records.
   *
   * @param start the number of the first record
   * @param records {@code start + records} is at most {@link #count}
   */
  RecordBlock slice(int start, int records) {
    Objects.checkFromIndexSize(start, records, count);
    int end = start + records;
    long from = start == 0 ? Long.MIN_VALUE : offset(start);
    long to = end == count ? Long.MAX_VALUE : offset(end);
    return new RecordBlock(
        kind,
        topic,
        partition,
        end == count ? nextOffset : to,
        this.records,
        first + start,
        records,
        // A reader may be restored between two parts, and must not send a record again.
        rejected.stream().filter(r -> r.offset() >= from && r.offset() < to).toList(),
        limit);
  }

  Kind kind() {
    return kind;
  }

  public String topic() {
    return topic;
  }

  public int partition() {
    return partition;
  }

  /** Topic and partition, as Kafka writes them. */
  String partitionName() {
    return topic + "-" + partition;
  }

  /** The offset at which a reader resumes behind this block, or {@link #NO_OFFSET}. */
  long nextOffset() {
    return nextOffset;
  }

  /** The number of records. */
  public int count() {
    return count;
  }

  /** The bytes of the values, one behind the other, from the first to the last record. */
  byte[] bytes() {
    return records.bytes();
  }

  /** The position in {@link #bytes} of a record's value, or, for the count, of their end. */
  int position(int record) {
    return records.positions()[first + record];
  }

  /** The offset of a record. */
  public long offset(int record) {
    return records.offsets()[first + record];
  }

  /** The timestamp of a record, in milliseconds, or -1 if it has none. */
  public long timestamp(int record) {
    return records.timestamps()[first + record];
  }

  /** The key of a record, or null if it has none. Not to be written to. */
  byte[] key(int record) {
    return records.keys()[first + record];
  }

  /** The value of a record's last header of a name that was asked for; null if it has none. */
  byte[] header(int header, int record) {
    return records.headers()[header][first + record];
  }

  /** The number of headers that were asked for. */
  int headerCount() {
    return records.headers().length;
  }

  /** Records that are malformed whatever the format: they are not among the others. */
  List<MalformedKafkaRecord> rejected() {
    return rejected;
  }

  /** The greatest timestamp of the records; {@link Long#MIN_VALUE} if no record has one. */
  long greatestTimestamp() {
    long greatest = Long.MIN_VALUE;
    for (int i = 0; i < count; i++) {
      greatest = Math.max(greatest, timestamp(i) < 0 ? Long.MIN_VALUE : timestamp(i));
    }
    return greatest;
  }

  /** How many records the next block should have. */
  RecordLimit limit() {
    return limit;
  }
}
