// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.table;

import io.millrace.connectors.kafka.MetadataColumn;
import java.util.Arrays;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.types.DataType;

/** What Kafka knows of a record, by the keys and with the types of Flink's connector. */
enum TopicMetadata {
  TOPIC("topic"),
  PARTITION("partition"),
  OFFSET("offset"),
  TIMESTAMP("timestamp");

  // Not the beginning of a name that users write without quotes.
  private static final String PREFIX = "$metadata$";

  private final String key;

  TopicMetadata(String key) {
    this.key = key;
  }

  /** The metadata with this key, which has to be one of {@link #values}. */
  static TopicMetadata of(String key) {
    return Arrays.stream(values()).filter(each -> each.key.equals(key)).findFirst().orElseThrow();
  }

  String key() {
    return key;
  }

  DataType type() {
    return switch (this) {
      case TOPIC -> DataTypes.STRING().notNull();
      case PARTITION -> DataTypes.INT().notNull();
      case OFFSET -> DataTypes.BIGINT().notNull();
      case TIMESTAMP -> DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(3).notNull();
    };
  }

  MetadataColumn column() {
    String name = PREFIX + key;
    return switch (this) {
      case TOPIC -> MetadataColumn.topic(name);
      case PARTITION -> MetadataColumn.partition(name);
      case OFFSET -> MetadataColumn.offset(name);
      case TIMESTAMP -> MetadataColumn.timestamp(name);
    };
  }
}
