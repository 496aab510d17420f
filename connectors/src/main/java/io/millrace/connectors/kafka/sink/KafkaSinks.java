// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import io.millrace.connectors.kafka.MalformedKafkaRecord;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaSinkBuilder;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.kafka.clients.producer.ProducerConfig;

/** Sinks of topics, which are Flink's {@link KafkaSink}. */
@PublicEvolving
public final class KafkaSinks {
  /** Headers of a dead letter: what is wrong with the record, and where it is from. */
  public static final String REASON = "millrace.reason";

  public static final String TOPIC = "millrace.topic";
  public static final String PARTITION = "millrace.partition";
  public static final String OFFSET = "millrace.offset";

  // The longest that a broker allows unless it is told otherwise; Flink's hour is longer.
  private static final String TRANSACTION_TIMEOUT_MILLIS = "900000";

  private KafkaSinks() {}

  /**
   * A builder of a sink that writes records to {@code topic}. Servers, the guarantee, the prefix of
   * transactions and properties are the caller's to set. Transactions time out after 15 minutes
   * unless a property says otherwise.
   */
  public static KafkaSinkBuilder<KafkaRecord> builder(String topic) {
    return KafkaSink.<KafkaRecord>builder()
        .setProperty(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, TRANSACTION_TIMEOUT_MILLIS)
        .setRecordSerializer(new TopicSchema(topic));
  }

  /**
   * Makes records for a dead-letter topic: keys, values and timestamps as they were, with the
   * headers {@link #REASON}, {@link #TOPIC}, {@link #PARTITION} and {@link #OFFSET} as text.
   */
  public static SingleOutputStreamOperator<KafkaRecord> deadLetters(
      DataStream<MalformedKafkaRecord> malformed) {
    return malformed
        .map(KafkaSinks::deadLetter)
        .returns(KafkaRecordSerializer.typeInformation())
        .name("dead letters");
  }

  private static KafkaRecord deadLetter(MalformedKafkaRecord malformed) {
    long timestamp = malformed.timestamp() < 0 ? KafkaRecord.NO_TIMESTAMP : malformed.timestamp();
    return new KafkaRecord(malformed.key(), malformed.value(), timestamp)
        .withHeader(REASON, malformed.reason())
        .withHeader(TOPIC, malformed.topic())
        .withHeader(PARTITION, String.valueOf(malformed.partition()))
        .withHeader(OFFSET, String.valueOf(malformed.offset()));
  }
}
