// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.table;

import io.millrace.connectors.kafka.MetadataColumn;
import java.util.Arrays;
import java.util.function.Function;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.types.DataType;

/** What Kafka knows of a record, by the keys and with the types of Flink's connector. */
enum TopicMetadata {
  TOPIC("topic", DataTypes.STRING().notNull(), MetadataColumn::topic),
  PARTITION("partition", DataTypes.INT().notNull(), MetadataColumn::partition),
  OFFSET("offset", DataTypes.BIGINT().notNull(), MetadataColumn::offset),
  TIMESTAMP(
      "timestamp",
      DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(3).notNull(),
      MetadataColumn::timestamp);

  // Behind all names of columns that users write without quotes.
  private static final String PREFIX = "$metadata$";

  private final String key;
  private final DataType type;
  private final MetadataColumn column;

  TopicMetadata(String key, DataType type, Function<String, MetadataColumn> column) {
    this.key = key;
    this.type = type;
    this.column = column.apply(PREFIX + key);
  }

  /** The metadata with this key, which has to be one of {@link #values}. */
  static TopicMetadata of(String key) {
    return Arrays.stream(values()).filter(each -> each.key.equals(key)).findFirst().orElseThrow();
  }

  String key() {
    return key;
  }

  DataType type() {
    return type;
  }

  MetadataColumn column() {
    return column;
  }
}
