// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.table;

import io.millrace.connectors.kafka.sink.KafkaRecord;
import io.millrace.connectors.kafka.sink.KafkaSinks;
import io.millrace.connectors.table.TableOptions;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaSinkBuilder;
import org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions;
import org.apache.flink.table.api.ValidationException;

/** How a table's sink writes records. Immutable; shows no properties. */
final class KafkaSinkOptions {
  private static final String DEFAULT_PARTITIONER = "default";

  private final ReadableConfig options;
  private final Properties properties;
  private final String topic;

  private KafkaSinkOptions(ReadableConfig options, Properties properties, String topic) {
    this.options = options;
    this.properties = properties;
    this.topic = topic;
  }

  /**
   * Reads the options.
   *
   * @throws ValidationException if there is no or more than one topic, if transactions have no
   *     prefix, or if the producer is not to choose partitions
   */
  static KafkaSinkOptions of(TableOptions tableOptions) {
    ReadableConfig options = tableOptions.options();
    List<String> topics = options.getOptional(KafkaConnectorOptions.TOPIC).orElse(List.of());
    if (topics.size() != 1) {
      throw new ValidationException(
          "a sink of '%s' writes to one topic, which '%s' names"
              .formatted(KafkaTableFactory.IDENTIFIER, KafkaConnectorOptions.TOPIC.key()));
    }
    String partitioner = options.get(KafkaConnectorOptions.SINK_PARTITIONER);
    if (!partitioner.equals(DEFAULT_PARTITIONER)) {
      throw new ValidationException(
          "'%s' = '%s' is not supported, only '%s' is: the producer chooses partitions, by the key"
                  .formatted(
                      KafkaConnectorOptions.SINK_PARTITIONER.key(),
                      partitioner,
                      DEFAULT_PARTITIONER)
              + " if there is one");
    }
    if (options.get(KafkaConnectorOptions.DELIVERY_GUARANTEE) == DeliveryGuarantee.EXACTLY_ONCE
        && options.getOptional(KafkaConnectorOptions.TRANSACTIONAL_ID_PREFIX).isEmpty()) {
      throw new ValidationException(
          "'%s' is required for exactly-once"
              .formatted(KafkaConnectorOptions.TRANSACTIONAL_ID_PREFIX.key()));
    }
    return new KafkaSinkOptions(
        options, tableOptions.properties(KafkaTableFactory.PROPERTIES), topics.get(0));
  }

  String topic() {
    return topic;
  }

  /** The parallelism of the sink; empty for that of its input. */
  Optional<Integer> parallelism() {
    return options.getOptional(KafkaConnectorOptions.SINK_PARALLELISM);
  }

  /** The sink of records. */
  KafkaSink<KafkaRecord> sink() {
    KafkaSinkBuilder<KafkaRecord> builder =
        KafkaSinks.builder(topic)
            .setKafkaProducerConfig(properties)
            .setDeliveryGuarantee(options.get(KafkaConnectorOptions.DELIVERY_GUARANTEE))
            .setTransactionNamingStrategy(
                options.get(KafkaConnectorOptions.TRANSACTION_NAMING_STRATEGY));
    options
        .getOptional(KafkaConnectorOptions.TRANSACTIONAL_ID_PREFIX)
        .ifPresent(builder::setTransactionalIdPrefix);
    return builder.build();
  }
}
