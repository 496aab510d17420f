// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A broker that is paused or killed loses nothing that it has acknowledged. */
class BrokerFaultTest {
  private static final int PAUSE_SECONDS = 3;

  private static Broker broker;

  @BeforeAll
  static void start() throws Exception {
    broker = Services.startBroker();
  }

  @AfterAll
  static void stop() throws Exception {
    if (broker != null) {
      broker.close();
    }
  }

  @Test
  void transactionOutlivesPause() throws Exception {
    KafkaTopic topic = KafkaTopic.create(broker, "paused", 1);
    try (KafkaProducer<String, String> producer = topic.transactionalProducer("paused")) {
      producer.beginTransaction();
      producer.send(topic.value("before")).get();

      broker.pause();
      Future<RecordMetadata> meanwhile = producer.send(topic.value("meanwhile"));
      assertThatThrownBy(() -> meanwhile.get(PAUSE_SECONDS, TimeUnit.SECONDS))
          .isInstanceOf(TimeoutException.class);
      broker.resume();

      meanwhile.get();
      producer.commitTransaction();
    }
    assertThat(topic.read("read_committed")).containsExactly("before", "meanwhile");
  }

  @Test
  void committedValuesOutliveKill() throws Exception {
    KafkaTopic topic = KafkaTopic.create(broker, "killed", 1);
    try (KafkaProducer<String, String> producer = topic.transactionalProducer("killed")) {
      producer.beginTransaction();
      producer.send(topic.value("committed")).get();
      producer.commitTransaction();
      producer.beginTransaction();
      producer.send(topic.value("open")).get();

      broker.kill();
      ListeningPort.of(broker.bootstrapServers()).assertClosed();
      broker.start();
      producer.abortTransaction();
    }
    // The same id fences the first producer, and continues.
    try (KafkaProducer<String, String> successor = topic.transactionalProducer("killed")) {
      successor.beginTransaction();
      successor.send(topic.value("after")).get();
      successor.commitTransaction();
    }
    assertThat(topic.read("read_committed")).containsExactly("committed", "after");
    assertThat(topic.read("read_uncommitted")).contains("open");
  }

  @Test
  void pausedBrokerCanBeKilled() throws Exception {
    broker.pause();
    broker.kill();
    broker.start();
    assertThat(KafkaTopic.create(broker, "after-pause-and-kill", 1).read("read_committed"))
        .isEmpty();
  }
}
