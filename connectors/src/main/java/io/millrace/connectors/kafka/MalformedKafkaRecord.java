// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/** A record of a topic that is not a row. Immutable: nobody writes the arrays. */
@PublicEvolving
public final class MalformedKafkaRecord {
  private static final int SHOWN_CHARACTERS = 200;

  private final String topic;
  private final int partition;
  private final long offset;
  private final long timestamp;
  private final byte[] key;
  private final byte[] value;
  private final String reason;

  /**
   * @param timestamp in milliseconds; -1 if there is none
   * @param key null if there is none; not copied
   * @param value null if there is none; not copied
   * @param reason what is wrong with it in one sentence, without the value
   */
  public MalformedKafkaRecord(
      String topic,
      int partition,
      long offset,
      long timestamp,
      byte[] key,
      byte[] value,
      String reason) {
    this.topic = Objects.requireNonNull(topic, "topic is null");
    this.partition = partition;
    this.offset = offset;
    this.timestamp = timestamp;
    this.key = key;
    this.value = value;
    this.reason = Objects.requireNonNull(reason, "reason is null");
  }

  public String topic() {
    return topic;
  }

  public int partition() {
    return partition;
  }

  public long offset() {
    return offset;
  }

  /** In milliseconds; -1 if there is none. */
  public long timestamp() {
    return timestamp;
  }

  /** The key as it is in the topic; null if there is none. Not to be written to. */
  public byte[] key() {
    return key;
  }

  /** The value as it is in the topic; null if there is none. Not to be written to. */
  public byte[] value() {
    return value;
  }

  /** What is wrong with it in one sentence, without the value. */
  public String reason() {
    return reason;
  }

  /** Where it is, the reason, and the start of its value, for messages. */
  public String message() {
    return topic + "-" + partition + "@" + offset + ": " + reason + (value == null ? "" : shown());
  }

  private String shown() {
    int length = Math.min(value.length, SHOWN_CHARACTERS);
    String text = new String(value, 0, length, StandardCharsets.UTF_8);
    return ": " + text + (length < value.length ? "..." : "");
  }
}
