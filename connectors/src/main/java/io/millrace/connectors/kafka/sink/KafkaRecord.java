// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;

/** A record to be written to a topic. Immutable: nobody writes the arrays. */
@PublicEvolving
public final class KafkaRecord {
  /** The {@link #timestamp} of a record to which the producer gives the time of its writing. */
  public static final long NO_TIMESTAMP = Long.MIN_VALUE;

  private final byte[] key;
  private final byte[] value;
  private final long timestamp;
  private final List<Header> headers;

  /** Makes a record without headers. */
  KafkaRecord(byte[] key, byte[] value, long timestamp) {
    this(key, value, timestamp, List.of());
  }

  /**
   * @param key null for a record without a key; not copied
   * @param value null for a record without a value; not copied
   * @param timestamp in milliseconds, or {@link #NO_TIMESTAMP}
   */
  KafkaRecord(byte[] key, byte[] value, long timestamp, List<Header> headers) {
    this.key = key;
    this.value = value;
    this.timestamp = timestamp;
    this.headers = List.copyOf(headers);
  }

  /** This record with one more header, whose value is text. */
  KafkaRecord withHeader(String name, String headerValue) {
    List<Header> all = new ArrayList<>(headers);
    all.add(new RecordHeader(name, headerValue.getBytes(StandardCharsets.UTF_8)));
    return new KafkaRecord(key, value, timestamp, all);
  }

  /** The key; null if there is none. Not to be written to. */
  public byte[] key() {
    return key;
  }

  /** The value; null if there is none. Not to be written to. */
  public byte[] value() {
    return value;
  }

  /** In milliseconds, or {@link #NO_TIMESTAMP}. */
  public long timestamp() {
    return timestamp;
  }

  public List<Header> headers() {
    return headers;
  }
}
