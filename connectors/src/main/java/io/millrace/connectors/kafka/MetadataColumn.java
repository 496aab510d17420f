// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import io.millrace.column.DataType;
import java.io.Serializable;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/** A column with what Kafka knows of each record, beside its value. */
@PublicEvolving
public final class MetadataColumn implements Serializable {
  private static final long serialVersionUID = 1L;

  private static final int MILLIS_DIGITS = 3;

  /** What the column has. */
  enum Source {
    TOPIC,
    TOPIC_PARTITION,
    PARTITION,
    OFFSET,
    TIMESTAMP,
    KEY,
    HEADER
  }

  private final Source source;
  private final String name;
  private final DataType type;
  private final boolean nullable;
  private final String header;

  private MetadataColumn(
      Source source, String name, DataType type, boolean nullable, String header) {
    this.source = source;
    this.name = Objects.requireNonNull(name, "name is null");
    this.type = type;
    this.nullable = nullable;
    this.header = header;
  }

  /** The name of the topic, a STRING. */
  public static MetadataColumn topic(String name) {
    return new MetadataColumn(Source.TOPIC, name, DataType.STRING, false, null);
  }

  /** The topic and the number of the partition as {@code topic-0}, a STRING. */
  public static MetadataColumn topicPartition(String name) {
    return new MetadataColumn(Source.TOPIC_PARTITION, name, DataType.STRING, false, null);
  }

  /** The number of the partition, an INT. */
  public static MetadataColumn partition(String name) {
    return new MetadataColumn(Source.PARTITION, name, DataType.INT32, false, null);
  }

  /** The offset in the partition, a BIGINT. */
  public static MetadataColumn offset(String name) {
    return new MetadataColumn(Source.OFFSET, name, DataType.INT64, false, null);
  }

  /** The record's timestamp, a TIMESTAMP_LTZ(3); null for records of before Kafka 0.10. */
  public static MetadataColumn timestamp(String name) {
    DataType type = DataType.timestamp(MILLIS_DIGITS, true);
    return new MetadataColumn(Source.TIMESTAMP, name, type, true, null);
  }

  /**
   * The record's key; null if it has none.
   *
   * @param type STRING or BINARY; as a STRING, bytes that are not UTF-8 become the replacement
   *     character
   * @throws IllegalArgumentException if {@code type} is another
   */
  public static MetadataColumn key(String name, DataType type) {
    return new MetadataColumn(Source.KEY, name, checked(name, type), true, null);
  }

  /**
   * The value of the record's last header of a name; null if it has none.
   *
   * @param type as of {@link #key}
   * @throws IllegalArgumentException if {@code type} is neither STRING nor BINARY
   */
  public static MetadataColumn header(String name, String header, DataType type) {
    Objects.requireNonNull(header, "header is null");
    return new MetadataColumn(Source.HEADER, name, checked(name, type), true, header);
  }

  private static DataType checked(String name, DataType type) {
    if (!type.id().isVariableWidth()) {
      throw new IllegalArgumentException(
          "expected STRING or BINARY for the metadata column '" + name + "', got " + type);
    }
    return type;
  }

  Source source() {
    return source;
  }

  /** The name of the header; null for others. */
  String header() {
    return header;
  }

  /** Name and type of the column. */
  public DataType.Field field() {
    return new DataType.Field(name, type, nullable);
  }
}
