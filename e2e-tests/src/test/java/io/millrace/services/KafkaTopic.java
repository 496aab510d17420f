// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import io.millrace.process.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
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
  private static final Duration READ_LIMIT = Duration.ofMinutes(1);

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

  /**
   * The values that a consumer of this isolation level sees. Waits until each transaction that has
   * written is committed or aborted, since a producer does not wait for the broker to mark it.
   *
   * @return in the order of each partition
   */
  List<String> read(String isolationLevel) throws Exception {
    Map<TopicPartition, Long> ends = ends();
    Map<String, Object> options =
        Map.of("bootstrap.servers", bootstrapServers, "isolation.level", isolationLevel);
    List<String> values = new ArrayList<>();
    try (KafkaConsumer<String, String> consumer =
        new KafkaConsumer<>(options, new StringDeserializer(), new StringDeserializer())) {
      consumer.assign(ends.keySet());
      consumer.seekToBeginning(ends.keySet());
      Await.until(
          "topic " + name + " is read to its end",
          READ_LIMIT,
          () -> {
            consumer.poll(POLL).forEach(record -> values.add(record.value()));
            return ends.keySet().stream().allMatch(p -> consumer.position(p) >= ends.get(p));
          },
          () -> "expected " + ends + ", got " + values.size() + " values");
    }
    return values;
  }

  /** The ends of the partitions, behind open transactions. */
  private Map<TopicPartition, Long> ends() throws Exception {
    Map<TopicPartition, OffsetSpec> latest =
        IntStream.range(0, partitions)
            .mapToObj(partition -> new TopicPartition(name, partition))
            .collect(Collectors.toMap(Function.identity(), partition -> OffsetSpec.latest()));
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrapServers))) {
      return admin.listOffsets(latest).all().get().entrySet().stream()
          .collect(Collectors.toMap(Map.Entry::getKey, end -> end.getValue().offset()));
    }
  }
}
