// SPDX-License-Identifier: Apache-2.0
package io.millrace.etl;

import com.sun.management.UnixOperatingSystemMXBean;
import io.millrace.device.Device;
import io.millrace.operators.context.DeviceContext;
import io.millrace.postgres.Sql;
import io.millrace.services.Broker;
import io.millrace.services.Database;
import io.millrace.services.KafkaTopic;
import io.millrace.services.Services;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.TopicPartition;

/**
 * Runs the ETL job from Kafka by windows to PostgreSQL, Kafka and Parquet files at a steady rate
 * for a given time, and samples what its process holds. Prints CSV, which {@code SoakPlot} of the
 * module operators draws: memory of the device, spilled and pinned memory, the heap right after a
 * collection, open files, how many bids are behind the committed offsets, and windows in
 * PostgreSQL, which alone should grow. Ends the process when it is done. The environment must have
 * {@code PGPASSWORD=test}.
 */
public final class EtlSoak {
  private static final String GROUP = "soak";
  private static final int PARTITIONS = 3;
  private static final int MAX_SAMPLES = 600;
  private static final UnixOperatingSystemMXBean PROCESS =
      ManagementFactory.getPlatformMXBean(UnixOperatingSystemMXBean.class);

  private static final String CONFIGURATION =
      """
      source:
        type: kafka
        kafka: {bootstrap-servers: %1$s, topic: soak-bids, group: soak}
        schema: {auction: BIGINT NOT NULL, price: BIGINT NOT NULL, ts: TIMESTAMP(3) NOT NULL}
        watermark: {column: ts, delay: 1 s}
      where: price > 200
      group-by:
        keys: [auction]
        aggregates: {bids: COUNT(*), highest: MAX(price)}
        window: {tumble: 10 s, time: ts}
      sink:
        type: [kafka, postgres, files]
        kafka: {bootstrap-servers: %1$s, topic: soak-windows}
        postgres: {url: %2$s, user: %3$s, table: bid_windows}
        path: %4$s
        format: parquet
      bad-rows: {topic: soak-dead-letters}
      checkpoint: {interval: 2 s}
      """;

  private final Admin admin;
  private final KafkaTopic bids;
  private final Sql sql;
  private final PrintStream output;

  private EtlSoak(Admin admin, KafkaTopic bids, Sql sql, PrintStream output) {
    this.admin = admin;
    this.bids = bids;
    this.sql = sql;
    this.output = output;
  }

  /** Runs the job. Arguments: seconds, bids a second, the CSV file. */
  public static void main(String[] arguments) throws Exception {
    long seconds = Long.parseLong(arguments[0]);
    Path folder = Files.createTempDirectory("etl-soak");
    try (Broker broker = Services.startBroker();
        Database database = Services.startDatabase();
        Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
        PrintStream output =
            new PrintStream(Path.of(arguments[2]).toFile(), StandardCharsets.UTF_8)) {
      KafkaTopic bids = KafkaTopic.create(broker, "soak-bids", PARTITIONS);
      KafkaTopic.create(broker, "soak-windows", 1);
      KafkaTopic.create(broker, "soak-dead-letters", 1);
      Sql sql = new Sql(database);
      sql.execute(
          "CREATE TABLE bid_windows (auction bigint NOT NULL, bids bigint NOT NULL, highest"
              + " bigint, window_start timestamp(3) NOT NULL, window_end timestamp(3) NOT NULL)");
      EtlRun.start(
          folder,
          CONFIGURATION.formatted(
              broker.bootstrapServers(),
              database.jdbcUrl(),
              database.user(),
              folder.resolve("windows")));
      try (BidProducer producer = BidProducer.start(bids, Long.parseLong(arguments[1]))) {
        new EtlSoak(admin, bids, sql, output).sample(seconds, producer);
      }
    }
    System.exit(0);
  }

  private void sample(long seconds, BidProducer producer) throws Exception {
    output.println(
        "second,device bytes,spilled bytes,pinned bytes,heap bytes,open files,bids behind,"
            + "bids sent,windows in PostgreSQL");
    long start = System.nanoTime();
    long interval = Math.max(1, seconds / MAX_SAMPLES);
    for (long second = 0; second <= seconds; second += interval) {
      TimeUnit.NANOSECONDS.sleep(start + TimeUnit.SECONDS.toNanos(second) - System.nanoTime());
      System.gc();
      Runtime runtime = Runtime.getRuntime();
      Device device = Device.current();
      output.printf(
          Locale.ROOT,
          "%d,%d,%d,%d,%d,%d,%d,%d,%d%n",
          second,
          DeviceContext.heldBytes(device),
          DeviceContext.spilledBytes(device),
          device.stagingPool().pinnedBytes(),
          runtime.totalMemory() - runtime.freeMemory(),
          PROCESS.getOpenFileDescriptorCount(),
          bidsBehind(),
          producer.sent(),
          sql.number("SELECT count(*) FROM bid_windows"));
      output.flush();
    }
  }

  private long bidsBehind() throws Exception {
    Map<TopicPartition, Long> committed =
        admin
            .listConsumerGroupOffsets(GROUP)
            .partitionsToOffsetAndMetadata()
            .get()
            .entrySet()
            .stream()
            .collect(Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().offset()));
    Map<TopicPartition, OffsetSpec> latest = new HashMap<>();
    for (int partition = 0; partition < bids.partitions(); partition++) {
      latest.put(new TopicPartition(bids.name(), partition), OffsetSpec.latest());
    }
    return admin.listOffsets(latest).all().get().entrySet().stream()
        .mapToLong(end -> end.getValue().offset() - committed.getOrDefault(end.getKey(), 0L))
        .sum();
  }
}
