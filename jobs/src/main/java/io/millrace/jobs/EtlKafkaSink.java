// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.millrace.column.Schema;
import io.millrace.connectors.kafka.MalformedKafkaRecord;
import io.millrace.connectors.kafka.sink.ArrowRecordEncoder;
import io.millrace.connectors.kafka.sink.JsonRecordEncoder;
import io.millrace.connectors.kafka.sink.KafkaEncodingOperator;
import io.millrace.connectors.kafka.sink.KafkaRecord;
import io.millrace.connectors.kafka.sink.KafkaSinks;
import io.millrace.connectors.kafka.sink.RecordEncoder;
import io.millrace.operators.api.ColumnStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaSinkBuilder;
import org.apache.flink.streaming.api.datastream.DataStream;

/** The settings of a sink that writes a topic of Kafka, and the sink. */
final class EtlKafkaSink {
  /** The format of the values. */
  enum Format {
    JSON,
    AVRO,
    ARROW
  }

  static final ConfigOption<String> SERVERS =
      key("sink.kafka.bootstrap-servers")
          .stringType()
          .noDefaultValue()
          .withDescription("Brokers to connect to first: host:port, host:port.");
  static final ConfigOption<String> TOPIC =
      key("sink.kafka.topic").stringType().noDefaultValue().withDescription("Topic to write.");
  static final ConfigOption<Format> FORMAT =
      key("sink.kafka.format")
          .enumType(Format.class)
          .defaultValue(Format.JSON)
          .withDescription(
              "json or avro: a record for each row; or arrow: an IPC stream of a batch in each"
                  + " record.");
  static final ConfigOption<String> KEY =
      key("sink.kafka.key")
          .stringType()
          .noDefaultValue()
          .withDescription("Columns for the keys of JSON and Avro records; no key if not given.");
  static final ConfigOption<DeliveryGuarantee> GUARANTEE =
      key("sink.kafka.guarantee")
          .enumType(DeliveryGuarantee.class)
          .defaultValue(DeliveryGuarantee.EXACTLY_ONCE)
          .withDescription(
              "exactly-once: records are committed by checkpoints; or at-least-once: they appear at"
                  + " once, and again after a failure.");
  static final ConfigOption<String> TRANSACTIONS =
      key("sink.kafka.transactional-id-prefix")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "How the names of transactions begin; 'millrace-TOPIC' if not given. No two jobs may"
                  + " have the same.");

  /** Properties of Kafka's producer. */
  static final String PROPERTIES = "sink.kafka.properties.";

  static final ConfigOption<String> DEAD_LETTERS =
      key("bad-rows.topic")
          .stringType()
          .noDefaultValue()
          .withDescription(
              "Topic for records that are not rows, on the brokers of the source; they go to"
                  + " bad-rows.path if not given.");

  static final List<ConfigOption<?>> ALL =
      List.of(SERVERS, TOPIC, FORMAT, KEY, GUARANTEE, TRANSACTIONS);

  private EtlKafkaSink() {}

  /**
   * Checks the settings before there is a stream.
   *
   * @throws UsageException naming the first setting that is missing or wrong
   */
  static void check(Configuration settings) {
    for (ConfigOption<String> option : List.of(SERVERS, TOPIC)) {
      EtlOptions.required(settings, option, "writing a topic of Kafka");
    }
    if (settings.get(GUARANTEE) == DeliveryGuarantee.NONE) {
      throw new UsageException(
          "expected exactly-once or at-least-once for " + GUARANTEE.key() + ", got none");
    }
  }

  /**
   * Checks that the columns of the key are written.
   *
   * @throws UsageException if one of them is not
   */
  static void checkColumns(Configuration settings, Schema written) {
    checkColumns(settings, KEY, written);
  }

  /**
   * Checks that the columns that a setting lists are written.
   *
   * @throws UsageException if one of them is not
   */
  static void checkColumns(Configuration settings, ConfigOption<String> option, Schema written) {
    for (String name : EtlOptions.names(settings, option)) {
      if (!written.names().contains(name)) {
        throw new UsageException(
            option.key()
                + ": there is no column '"
                + name
                + "'; written are "
                + String.join(", ", written.names()));
      }
    }
  }

  /** Writes the stream to the topic. */
  static void write(ColumnStream stream, Configuration settings) {
    String topic = settings.get(TOPIC);
    KafkaSink<KafkaRecord> sink =
        sink(
            topic,
            settings.get(SERVERS),
            EtlKafka.under(settings, PROPERTIES),
            settings.get(GUARANTEE),
            settings.getOptional(TRANSACTIONS));
    KafkaEncodingOperator.encode(stream.toBatches(), encoder(settings, stream.schema()))
        .uid("encode-kafka")
        .sinkTo(sink)
        .name("Kafka " + topic)
        .uid("kafka-sink");
  }

  private static KafkaSink<KafkaRecord> sink(
      String topic,
      String servers,
      Map<String, String> properties,
      DeliveryGuarantee guarantee,
      Optional<String> transactions) {
    KafkaSinkBuilder<KafkaRecord> builder =
        KafkaSinks.builder(topic)
            .setBootstrapServers(servers)
            .setDeliveryGuarantee(guarantee)
            .setTransactionalIdPrefix(transactions.orElse("millrace-" + topic));
    properties.forEach(builder::setProperty);
    return builder.build();
  }

  private static RecordEncoder encoder(Configuration settings, Schema schema) {
    String[] keys = EtlOptions.names(settings, KEY).toArray(String[]::new);
    return switch (settings.get(FORMAT)) {
      case JSON -> JsonRecordEncoder.of(schema).withKey(keys);
      case AVRO -> EtlAvro.encoder(settings, schema, settings.get(TOPIC)).withKey(keys);
      case ARROW -> ArrowRecordEncoder.create();
    };
  }

  /** Writes records that are not rows to the topic of {@link #DEAD_LETTERS}. */
  static void writeDeadLetters(DataStream<MalformedKafkaRecord> records, Configuration settings) {
    String topic = settings.get(DEAD_LETTERS);
    KafkaSink<KafkaRecord> sink =
        sink(
            topic,
            settings.get(EtlKafka.SERVERS),
            EtlKafka.under(settings, EtlKafka.PROPERTIES),
            DeliveryGuarantee.EXACTLY_ONCE,
            Optional.empty());
    KafkaSinks.deadLetters(records)
        .uid("dead-letters")
        .sinkTo(sink)
        .name("dead letters " + topic)
        .uid("dead-letters-sink");
  }
}
