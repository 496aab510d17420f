// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka.sink;

import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Sends records to one topic, as they are. The producer chooses the partition. It gives Flink no
 * lineage, which would have the producer's properties, with passwords.
 */
final class TopicSchema implements KafkaRecordSerializationSchema<KafkaRecord> {
  private static final long serialVersionUID = 1L;

  private final String topic;

  TopicSchema(String topic) {
    this.topic = topic;
  }

  @Override
  public ProducerRecord<byte[], byte[]> serialize(
      KafkaRecord record, KafkaSinkContext context, Long timestamp) {
    Long time = record.timestamp() == KafkaRecord.NO_TIMESTAMP ? null : record.timestamp();
    return new ProducerRecord<>(topic, null, time, record.key(), record.value(), record.headers());
  }
}
