// SPDX-License-Identifier: Apache-2.0
package io.millrace.etl;

import io.millrace.services.KafkaTopic;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends bids as JSON to a topic at a steady rate, until it is closed. A bid of the time at which it
 * is sent has the members {@code auction}, {@code price}, {@code sent} (milliseconds) and {@code
 * ts} (text).
 */
final class BidProducer implements AutoCloseable {
  private static final Duration TICK = Duration.ofMillis(10);
  private static final int AUCTIONS = 1000;

  private final KafkaTopic topic;
  private final KafkaProducer<byte[], byte[]> producer;
  private final Random random = new Random(1);
  private final double bidsPerTick;
  private final Thread thread;
  private volatile boolean isClosed;
  private final AtomicLong sent = new AtomicLong();
  private volatile Exception failure;
  private double due;

  private BidProducer(KafkaTopic topic, long bidsPerSecond) {
    this.topic = topic;
    this.bidsPerTick = (double) bidsPerSecond * TICK.toMillis() / 1000;
    this.producer =
        new KafkaProducer<>(
            Map.of("bootstrap.servers", topic.bootstrapServers(), "linger.ms", 1),
            new ByteArraySerializer(),
            new ByteArraySerializer());
    this.thread = new Thread(this::run, "bids");
  }

  static BidProducer start(KafkaTopic topic, long bidsPerSecond) {
    BidProducer started = new BidProducer(topic, bidsPerSecond);
    started.thread.start();
    return started;
  }

  /** Sends bids as fast as the broker takes them, and returns when it has them. */
  static void send(KafkaTopic topic, long bids) {
    BidProducer producer = new BidProducer(topic, 0);
    for (long i = 0; i < bids; i++) {
      producer.send(System.currentTimeMillis());
    }
    producer.close();
  }

  /** How many bids were sent so far. */
  long sent() {
    return sent.get();
  }

  private void run() {
    long next = System.nanoTime();
    while (!isClosed) {
      long now = System.currentTimeMillis();
      for (due += bidsPerTick; due >= 1; due--) {
        send(now);
      }
      next += TICK.toNanos();
      try {
        TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
      } catch (InterruptedException e) {
        return;
      }
    }
  }

  private void send(long millis) {
    String time =
        Instant.ofEpochMilli(millis).atOffset(ZoneOffset.UTC).toLocalDateTime().toString();
    String bid =
        String.format(
            Locale.ROOT,
            "{\"auction\":%d,\"price\":%d,\"sent\":%d,\"ts\":\"%s\"}",
            random.nextInt(AUCTIONS),
            random.nextInt(1000),
            millis,
            time);
    Future<RecordMetadata> unused =
        producer.send(
            new ProducerRecord<>(topic.name(), bid.getBytes(StandardCharsets.UTF_8)),
            (record, exception) -> failure = exception == null ? failure : exception);
    sent.incrementAndGet();
  }

  /**
   * Waits until the broker has all bids.
   *
   * @throws IllegalStateException if it refused one
   */
  @Override
  public void close() {
    isClosed = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    producer.close();
    if (failure != null) {
      throw new IllegalStateException("a bid was not sent", failure);
    }
  }
}
