// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What tests rely on while a broker runs. */
class BrokerTest {
  private static final int VALUES = 1000;

  @RegisterExtension static final SharedServices services = new SharedServices();

  @Test
  void readersOfCommittedValuesDoNotSeeAbortedOnes() throws Exception {
    KafkaTopic topic = KafkaTopic.create(services.broker(), "committed-and-aborted", 3);
    try (KafkaProducer<String, String> producer = topic.transactionalProducer("writer")) {
      send(producer, topic, "first");
      producer.commitTransaction();
      send(producer, topic, "aborted");
      producer.abortTransaction();
      send(producer, topic, "second");
      producer.commitTransaction();
    }

    assertThat(topic.read("read_committed"))
        .containsExactlyInAnyOrderElementsOf(values("first", "second"));
    assertThat(topic.read("read_uncommitted"))
        .containsExactlyInAnyOrderElementsOf(values("first", "aborted", "second"));
  }

  private static void send(
      KafkaProducer<String, String> producer, KafkaTopic topic, String transaction)
      throws Exception {
    producer.beginTransaction();
    List<Future<RecordMetadata>> sent =
        values(transaction).stream().map(value -> producer.send(topic.value(value))).toList();
    for (Future<RecordMetadata> record : sent) {
      record.get();
    }
  }

  private static List<String> values(String... transactions) {
    return Stream.of(transactions)
        .flatMap(name -> IntStream.range(0, VALUES).mapToObj(number -> name + " " + number))
        .toList();
  }

  @Test
  void listensOnLoopbackAddressOnly() throws Exception {
    assertThat(services.broker().bootstrapServers()).startsWith("127.0.0.1:");
    ListeningPort.of(services.broker().bootstrapServers()).assertListensOnLoopbackOnly();
  }
}
