// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A topic of strings, as tests of brokers write and read it.
 *
 * @param bootstrapServers the address of the broker
 */
record KafkaTopic(String bootstrapServers, String name, int partitions) {
  private static final Duration POLL = Duration.ofMillis(200);

  /** Creates the topic. */
  static KafkaTopic create(Broker broker, String name, int partitions) throws Exception {
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
      admin.createTopics(List.of(new NewTopic(name, partitions, (short) 1))).all().get();
    }
    return new KafkaTopic(broker.bootstrapServers(), name, partitions);
  }

  /** A producer whose transactions are initialized. */
  KafkaProducer<String, String> transactionalProducer(String transactionalId) {
    KafkaProducer<String, String> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrapServers, "transactional.id", transactionalId),
            new StringSerializer(),
            new StringSerializer());
    producer.initTransactions();
    return producer;
  }

  ProducerRecord<String, String> value(String value) {
    return new ProducerRecord<>(name, value);
  }

  /** Values over all partitions that a consumer of this isolation level sees from first to last. */
  List<String> read(String isolationLevel) {
    Map<String, Object> options =
        Map.of("bootstrap.servers", bootstrapServers, "isolation.level", isolationLevel);
    List<TopicPartition> all =
        IntStream.range(0, partitions)
            .mapToObj(partition -> new TopicPartition(name, partition))
            .toList();
    try (KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(options, new StringDeserializer(), new StringDeserializer())) {
      consumer.assign(all);
      consumer.seekToBeginning(all);
      Map<TopicPartition, Long> ends = consumer.endOffsets(all);
      List<String> values = new ArrayList<>();
      while (all.stream()
          .anyMatch(partition -> consumer.position(partition) < ends.get(partition))) {
        for (ConsumerRecord<String, String> record : consumer.poll(POLL)) {
          values.add(record.value());
        }
      }
      return values;
    }
  }
}
