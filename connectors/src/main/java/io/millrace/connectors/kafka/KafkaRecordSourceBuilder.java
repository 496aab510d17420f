// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.KafkaSourceBuilder;
import org.apache.flink.connector.kafka.source.KafkaSourceOptions;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.util.function.SerializableSupplier;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Makes a {@link KafkaRecordSource}. Methods have the names and the meaning that they have in
 * Flink's {@link KafkaSourceBuilder}. Where no property says otherwise, a poll takes up to {@value
 * #MAX_POLL_RECORDS} records and {@value #MAX_PARTITION_FETCH_BYTES} bytes of a partition, which
 * makes batches large enough for a GPU.
 */
@PublicEvolving
public final class KafkaRecordSourceBuilder {
  /** The default of {@link #setMaximumRecordBytes}. */
  public static final int MAX_RECORD_BYTES = 16 << 20;

  static final int MAX_POLL_RECORDS = 16_384;
  static final int MAX_PARTITION_FETCH_BYTES = 4 << 20;

  private final KafkaSourceBuilder<byte[]> builder = KafkaSource.builder();
  private final Properties properties = new Properties();
  private OffsetsInitializer startingOffsets = OffsetsInitializer.earliest();
  private SerializableSupplier<String> rackId;
  private int maximumRecordBytes = MAX_RECORD_BYTES;
  private TombstonePolicy tombstones = TombstonePolicy.SKIP;

  KafkaRecordSourceBuilder() {
    properties.setProperty(
        ConsumerConfig.MAX_POLL_RECORDS_CONFIG, String.valueOf(MAX_POLL_RECORDS));
    properties.setProperty(
        ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, String.valueOf(MAX_PARTITION_FETCH_BYTES));
  }

  public KafkaRecordSourceBuilder setBootstrapServers(String bootstrapServers) {
    return setProperty(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
  }

  /** Sets the consumer group, to which offsets are committed with each checkpoint. */
  public KafkaRecordSourceBuilder setGroupId(String groupId) {
    return setProperty(ConsumerConfig.GROUP_ID_CONFIG, groupId);
  }

  public KafkaRecordSourceBuilder setTopics(List<String> topics) {
    builder.setTopics(topics);
    return this;
  }

  public KafkaRecordSourceBuilder setTopics(String... topics) {
    return setTopics(List.of(topics));
  }

  public KafkaRecordSourceBuilder setTopicPattern(Pattern pattern) {
    builder.setTopicPattern(pattern);
    return this;
  }

  public KafkaRecordSourceBuilder setPartitions(Set<TopicPartition> partitions) {
    builder.setPartitions(partitions);
    return this;
  }

  public KafkaRecordSourceBuilder setStartingOffsets(OffsetsInitializer offsets) {
    startingOffsets = offsets;
    builder.setStartingOffsets(offsets);
    return this;
  }

  /** Lets the source stop at these offsets, as an unbounded one. */
  public KafkaRecordSourceBuilder setUnbounded(OffsetsInitializer stoppingOffsets) {
    builder.setUnbounded(stoppingOffsets);
    return this;
  }

  /** Lets the source end at these offsets. */
  public KafkaRecordSourceBuilder setBounded(OffsetsInitializer stoppingOffsets) {
    builder.setBounded(stoppingOffsets);
    return this;
  }

  public KafkaRecordSourceBuilder setClientIdPrefix(String prefix) {
    return setProperty(KafkaSourceOptions.CLIENT_ID_PREFIX.key(), prefix);
  }

  public KafkaRecordSourceBuilder setRackIdSupplier(SerializableSupplier<String> supplier) {
    rackId = supplier;
    builder.setRackIdSupplier(supplier);
    return this;
  }

  /** Sets a property of Kafka's consumer, or of Flink's {@link KafkaSourceOptions}. */
  public KafkaRecordSourceBuilder setProperty(String name, String value) {
    properties.setProperty(name, value);
    return this;
  }

  public KafkaRecordSourceBuilder setProperties(Properties newProperties) {
    newProperties
        .stringPropertyNames()
        .forEach(name -> setProperty(name, newProperties.getProperty(name)));
    return this;
  }

  /**
   * Records with a value of more bytes than this are malformed, whose value is cut.
   *
   * @throws IllegalArgumentException if {@code bytes} is below 1
   */
  public KafkaRecordSourceBuilder setMaximumRecordBytes(int bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("expected at least 1 byte for a record, got " + bytes);
    }
    maximumRecordBytes = bytes;
    return this;
  }

  public KafkaRecordSourceBuilder setTombstones(TombstonePolicy policy) {
    tombstones = policy;
    return this;
  }

  /**
   * The source.
   *
   * @throws RuntimeException as {@link KafkaSourceBuilder#build} does, if an option is missing
   */
  public KafkaRecordSource build() {
    Properties all = resolved();
    return new KafkaRecordSource(
        builder
            .setDeserializer(
                KafkaRecordDeserializationSchema.valueOnly(ByteArrayDeserializer.class))
            .setProperties(all)
            .build(),
        all,
        rackId,
        new RecordBlockOptions(List.of(), maximumRecordBytes, tombstones));
  }

  // Flink's builder keeps to itself what it adds for its own reader.
  private Properties resolved() {
    Properties all = new Properties();
    all.putAll(properties);
    String deserializer = ByteArrayDeserializer.class.getName();
    all.setProperty(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, deserializer);
    all.setProperty(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, deserializer);
    all.putIfAbsent(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    all.setProperty(
        ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
        startingOffsets.getAutoOffsetResetStrategy().name().toLowerCase(Locale.ROOT));
    String group = all.getProperty(ConsumerConfig.GROUP_ID_CONFIG);
    if (group == null) {
      all.putIfAbsent(KafkaSourceOptions.COMMIT_OFFSETS_ON_CHECKPOINT.key(), "false");
    }
    all.putIfAbsent(
        KafkaSourceOptions.CLIENT_ID_PREFIX.key(),
        group == null ? "millrace-" + UUID.randomUUID() : group);
    return all;
  }
}
