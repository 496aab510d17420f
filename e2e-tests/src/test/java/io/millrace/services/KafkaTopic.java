// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import io.millrace.process.Await;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * A topic of strings, as tests of brokers write and read it.
 *
 * @param bootstrapServers the address of the broker
 */
public record KafkaTopic(String bootstrapServers, String name, int partitions) {
  private static final Duration POLL = Duration.ofMillis(200);
  private static final int POLLED_RECORDS = 100_000;
  private static final Duration READ_LIMIT = Duration.ofMinutes(1);

  /** Creates the topic. */
  public static KafkaTopic create(Broker broker, String name, int partitions) throws Exception {
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

  /** Writes records, and returns when the broker has them all. */
  public void send(List<ProducerRecord<String, String>> records) throws Exception {
    try (KafkaProducer<String, String> producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", bootstrapServers, "linger.ms", 5),
            new StringSerializer(),
            new StringSerializer())) {
      for (Future<RecordMetadata> sent : records.stream().map(producer::send).toList()) {
        sent.get();
      }
    }
  }

  /** Writes values to the partitions in turn. */
  public void sendValues(List<String> values) throws Exception {
    send(
        IntStream.range(0, values.size())
            .mapToObj(
                i -> new ProducerRecord<String, String>(name, i % partitions, null, values.get(i)))
            .toList());
  }

  /** The values of {@link #records} as text. */
  public List<String> read(String isolationLevel) throws Exception {
    return records(isolationLevel).stream()
        .map(record -> new String(record.value(), StandardCharsets.UTF_8))
        .toList();
  }

  /** The records of {@link #forEach}, in the order of each partition. */
  public List<ConsumerRecord<byte[], byte[]>> records(String isolationLevel) throws Exception {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    forEach(isolationLevel, records::add);
    return records;
  }

  /**
   * Takes the records that a consumer of this isolation level sees, in the order of each partition.
   * Waits until each transaction that has written is committed or aborted, since a producer does
   * not wait for the broker to mark it.
   */
  public void forEach(String isolationLevel, Consumer<ConsumerRecord<byte[], byte[]>> action)
      throws Exception {
    Map<TopicPartition, Long> ends = ends();
    Map<String, Object> options =
        Map.of(
            "bootstrap.servers", bootstrapServers,
            "isolation.level", isolationLevel,
            "max.poll.records", POLLED_RECORDS);
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(options, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      consumer.assign(ends.keySet());
      consumer.seekToBeginning(ends.keySet());
      Await.until(
          "topic " + name + " is read to its end",
          READ_LIMIT,
          () -> {
            consumer.poll(POLL).forEach(action);
            return ends.keySet().stream().allMatch(p -> consumer.position(p) >= ends.get(p));
          },
          () -> "expected " + ends + ", got " + positions(consumer));
    }
  }

  private static Map<TopicPartition, Long> positions(KafkaConsumer<?, ?> consumer) {
    return consumer.assignment().stream()
        .collect(Collectors.toMap(Function.identity(), consumer::position));
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
