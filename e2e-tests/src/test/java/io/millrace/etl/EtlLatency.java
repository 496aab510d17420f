// SPDX-License-Identifier: Apache-2.0
package io.millrace.etl;

import io.millrace.services.Broker;
import io.millrace.services.KafkaTopic;
import io.millrace.services.Services;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Measures how long a bid takes from the time at which it is sent to Kafka until a reader of
 * committed records sees it behind the ETL job, which filters bids and writes them exactly once. At
 * first bids as fast as all take them, of which the greatest rate follows; then 1 %, 50 % and 90 %
 * of that rate. Broker, producer, job and reader share the machine. Ends the process when it is
 * done.
 */
public final class EtlLatency {
  private static final int PARTITIONS = 2;
  private static final Duration POLL = Duration.ofMillis(20);
  private static final Pattern SENT = Pattern.compile("\"sent\":(\\d+)");
  private static final double[] SHARES = {0.01, 0.5, 0.9};

  private static final String CONFIGURATION =
      """
      source:
        type: kafka
        kafka: {bootstrap-servers: %1$s, topic: latency-bids, group: latency}
        schema: {auction: BIGINT NOT NULL, price: BIGINT NOT NULL, sent: BIGINT NOT NULL}
      where: price >= 0
      select: auction, price * 2 AS doubled, sent
      sink:
        type: [kafka]
        kafka: {bootstrap-servers: %1$s, topic: latency-kept}
      checkpoint: {interval: %2$s}
      """;

  private final KafkaTopic bids;
  private final KafkaConsumer<byte[], byte[]> consumer;

  private EtlLatency(KafkaTopic bids, KafkaConsumer<byte[], byte[]> consumer) {
    this.bids = bids;
    this.consumer = consumer;
  }

  /**
   * Runs the job. Arguments: the checkpoint interval, such as {@code 1s}, bids to find the greatest
   * rate, seconds at each rate.
   */
  public static void main(String[] arguments) throws Exception {
    Path folder = Files.createTempDirectory("etl-latency");
    try (Broker broker = Services.startBroker()) {
      KafkaTopic bids = KafkaTopic.create(broker, "latency-bids", PARTITIONS);
      KafkaTopic kept = KafkaTopic.create(broker, "latency-kept", PARTITIONS);
      EtlRun.start(folder, CONFIGURATION.formatted(broker.bootstrapServers(), arguments[0]));
      Map<String, Object> options =
          Map.of(
              "bootstrap.servers", broker.bootstrapServers(),
              "group.id", "reader",
              "auto.offset.reset", "earliest",
              "max.poll.records", 100_000,
              "isolation.level", "read_committed");
      try (KafkaConsumer<byte[], byte[]> consumer =
          new KafkaConsumer<>(options, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
        consumer.subscribe(List.of(kept.name()));
        new EtlLatency(bids, consumer)
            .report(Long.parseLong(arguments[1]), Long.parseLong(arguments[2]));
      }
    }
    System.exit(0);
  }

  private void report(long most, long seconds) throws Exception {
    BidProducer.send(bids, most / 10);
    read(most / 10);
    long start = System.nanoTime();
    BidProducer.send(bids, most);
    read(most);
    double rate = most * 1e9 / (System.nanoTime() - start);
    System.out.printf(Locale.ROOT, "greatest rate: %.0f bids a second%n", rate);
    System.out.println("| share of the rate | bids a second | p50, ms | p99, ms |");
    System.out.println("|---|---|---|---|");
    for (double share : SHARES) {
      long perSecond = Math.max(1, (long) (rate * share));
      BidProducer producer = BidProducer.start(bids, perSecond);
      List<Long> latencies = read(perSecond * seconds);
      producer.close();
      // What was sent meanwhile.
      while (!consumer.poll(Duration.ofSeconds(5)).isEmpty()) {
        Thread.onSpinWait();
      }
      System.out.printf(
          Locale.ROOT,
          "| %.0f %% | %d | %d | %d |%n",
          100 * share,
          perSecond,
          percentile(latencies, 0.5),
          percentile(latencies, 0.99));
    }
  }

  /** Reads so many bids, and returns the milliseconds that each took, the smallest first. */
  private List<Long> read(long count) {
    List<Long> latencies = new ArrayList<>();
    while (latencies.size() < count) {
      for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
        Matcher sent = SENT.matcher(new String(record.value(), StandardCharsets.UTF_8));
        if (sent.find()) {
          latencies.add(System.currentTimeMillis() - Long.parseLong(sent.group(1)));
        }
      }
    }
    Collections.sort(latencies);
    return latencies;
  }

  private static long percentile(List<Long> sorted, double share) {
    return sorted.get((int) (share * (sorted.size() - 1)));
  }
}
