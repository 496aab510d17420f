// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.table;

import io.millrace.connectors.kafka.KafkaRecordSource;
import io.millrace.connectors.kafka.KafkaRecordSourceBuilder;
import io.millrace.connectors.table.TableOptions;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.connector.kafka.source.KafkaSourceOptions;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions;
import org.apache.flink.streaming.connectors.kafka.table.KafkaConnectorOptions.ScanBoundedMode;
import org.apache.flink.table.api.ValidationException;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.TopicPartition;

/** Which records a table's source reads. Immutable; shows no properties. */
final class KafkaScanOptions {
  private static final Pattern OFFSET = Pattern.compile("partition:(\\d+),offset:(\\d+)");

  private final ReadableConfig options;
  private final Properties properties;

  private KafkaScanOptions(ReadableConfig options, Properties properties) {
    this.options = options;
    this.properties = properties;
  }

  /**
   * Reads the options.
   *
   * @throws ValidationException if one lacks another, or has a wrong value
   */
  static KafkaScanOptions of(TableOptions tableOptions) {
    KafkaScanOptions scan =
        new KafkaScanOptions(
            tableOptions.options(), tableOptions.properties(KafkaTableFactory.PROPERTIES));
    if (scan.topics().isPresent() == scan.topicPattern().isPresent()) {
      throw new ValidationException(
          "either '%s' or '%s' is required"
              .formatted(
                  KafkaConnectorOptions.TOPIC.key(), KafkaConnectorOptions.TOPIC_PATTERN.key()));
    }
    scan.startingOffsets();
    scan.stoppingOffsets();
    return scan;
  }

  private Optional<List<String>> topics() {
    return options.getOptional(KafkaConnectorOptions.TOPIC);
  }

  private Optional<String> topicPattern() {
    return options.getOptional(KafkaConnectorOptions.TOPIC_PATTERN);
  }

  /** The parallelism of the source; empty for that of the job. */
  Optional<Integer> parallelism() {
    return options.getOptional(KafkaConnectorOptions.SCAN_PARALLELISM);
  }

  boolean isBounded() {
    return options.get(KafkaConnectorOptions.SCAN_BOUNDED_MODE) != ScanBoundedMode.UNBOUNDED;
  }

  /** The source. */
  KafkaRecordSource source() {
    KafkaRecordSourceBuilder builder =
        KafkaRecordSource.builder()
            .setProperties(properties)
            .setProperty(
                KafkaSourceOptions.PARTITION_DISCOVERY_INTERVAL_MS.key(),
                String.valueOf(
                    options.get(KafkaConnectorOptions.SCAN_TOPIC_PARTITION_DISCOVERY).toMillis()))
            .setStartingOffsets(startingOffsets());
    topics().ifPresent(builder::setTopics);
    topicPattern().map(Pattern::compile).ifPresent(builder::setTopicPattern);
    if (isBounded()) {
      builder.setBounded(stoppingOffsets());
    }
    return builder.build();
  }

  private OffsetsInitializer startingOffsets() {
    return switch (options.get(KafkaConnectorOptions.SCAN_STARTUP_MODE)) {
      case EARLIEST_OFFSET -> OffsetsInitializer.earliest();
      case LATEST_OFFSET -> OffsetsInitializer.latest();
      case GROUP_OFFSETS -> OffsetsInitializer.committedOffsets(resetStrategy());
      case TIMESTAMP ->
          OffsetsInitializer.timestamp(
              required(KafkaConnectorOptions.SCAN_STARTUP_TIMESTAMP_MILLIS));
      case SPECIFIC_OFFSETS ->
          OffsetsInitializer.offsets(offsets(KafkaConnectorOptions.SCAN_STARTUP_SPECIFIC_OFFSETS));
    };
  }

  // What a group that has not committed yet begins with.
  @SuppressWarnings("deprecation") // Flink's source takes Kafka's old type
  private OffsetResetStrategy resetStrategy() {
    String name =
        properties.getProperty(
            ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, OffsetResetStrategy.NONE.name());
    try {
      return OffsetResetStrategy.valueOf(name.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw new ValidationException(
          "'%s%s' = '%s' is not supported"
              .formatted(
                  KafkaTableFactory.PROPERTIES, ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, name),
          e);
    }
  }

  private OffsetsInitializer stoppingOffsets() {
    return switch (options.get(KafkaConnectorOptions.SCAN_BOUNDED_MODE)) {
      case UNBOUNDED -> null;
      case LATEST_OFFSET -> OffsetsInitializer.latest();
      case GROUP_OFFSETS -> OffsetsInitializer.committedOffsets();
      case TIMESTAMP ->
          OffsetsInitializer.timestamp(
              required(KafkaConnectorOptions.SCAN_BOUNDED_TIMESTAMP_MILLIS));
      case SPECIFIC_OFFSETS ->
          OffsetsInitializer.offsets(offsets(KafkaConnectorOptions.SCAN_BOUNDED_SPECIFIC_OFFSETS));
    };
  }

  private <T> T required(ConfigOption<T> option) {
    return options
        .getOptional(option)
        .orElseThrow(() -> new ValidationException("'%s' is required".formatted(option.key())));
  }

  private Map<TopicPartition, Long> offsets(ConfigOption<String> option) {
    String text = required(option);
    String topic =
        topics()
            .filter(names -> names.size() == 1)
            .orElseThrow(
                () -> new ValidationException("'%s' is for one topic".formatted(option.key())))
            .get(0);
    Map<TopicPartition, Long> offsets = new HashMap<>();
    for (String part : text.split(";", -1)) {
      Matcher matcher = OFFSET.matcher(part.strip());
      if (!matcher.matches()) {
        throw new ValidationException(
            "expected 'partition:0,offset:42;partition:1,offset:300' for '%s', got '%s'"
                .formatted(option.key(), text));
      }
      TopicPartition partition = new TopicPartition(topic, Integer.parseInt(matcher.group(1)));
      offsets.put(partition, Long.parseLong(matcher.group(2)));
    }
    return offsets;
  }

  /** The topics. */
  @Override
  public String toString() {
    return topics().map(names -> String.join(";", names)).or(this::topicPattern).orElse("");
  }
}
