// SPDX-License-Identifier: Apache-2.0
package io.millrace.etl;

import io.millrace.process.LoggedProcess;
import io.millrace.services.Broker;
import io.millrace.services.Database;
import io.millrace.services.KafkaTopic;
import io.millrace.services.Services;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The command {@code millrace etl --demo}. */
@Command(
    name = "millrace etl --demo",
    mixinStandardHelpOptions = true,
    description = {
      "Starts a Kafka broker and a PostgreSQL server on this machine, sends bids to a topic, and"
          + " runs the ETL job over them: a filter, windows of 5 s for each auction, and three"
          + " sinks, exactly once. Shows what arrives until Ctrl-C.",
      "The job's configuration, its log and its files are in a folder that is named at the start."
    })
public final class EtlDemo implements Callable<Integer> {
  private static final int PARTITIONS = 2;
  private static final int FAILED = 1;

  private static final String CONFIGURATION =
      """
      source:
        type: kafka
        kafka: {bootstrap-servers: %1$s, topic: bids, group: demo}
        schema: {auction: BIGINT NOT NULL, price: BIGINT NOT NULL, ts: TIMESTAMP(3) NOT NULL}
        watermark: {column: ts, delay: 1 s}
      where: price > 200
      group-by:
        keys: [auction]
        aggregates: {bids: COUNT(*), highest: MAX(price), total: SUM(price)}
        window: {tumble: 5 s, time: ts}
      sink:
        type: [kafka, postgres, files]
        kafka: {bootstrap-servers: %1$s, topic: windows, key: auction}
        postgres: {url: %2$s, user: %3$s, table: bid_windows, key: [auction, window_start]}
        path: %4$s
        format: parquet
      bad-rows: {topic: dead-letters}
      checkpoint: {interval: 1 s}
      """;

  @Option(names = "--rate", paramLabel = "N", description = "Bids a second (default: 5000).")
  private long rate = 5000;

  @Option(
      names = "--windows",
      paramLabel = "N",
      description = "Ends when Kafka and PostgreSQL have so many windows (default: at Ctrl-C).")
  private long enough = Long.MAX_VALUE;

  @Option(names = "--page", description = "Each second's output takes the place of the one before.")
  private boolean isPage;

  private final PrintStream out;

  private EtlDemo(PrintStream out) {
    this.out = out;
  }

  /** Runs the demo. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new EtlDemo(System.out)).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    Path folder = Files.createTempDirectory("millrace-demo-");
    out.println("starting Kafka and PostgreSQL; all files are in " + folder);
    try (Broker broker = Services.startBroker();
        Database database = Services.startDatabase()) {
      KafkaTopic bids = KafkaTopic.create(broker, "bids", PARTITIONS);
      KafkaTopic windows = KafkaTopic.create(broker, "windows", 1);
      KafkaTopic.create(broker, "dead-letters", 1);
      DemoResults results = DemoResults.create(database, folder.resolve("windows"));
      try (LoggedProcess job = startJob(folder, broker, database);
          BidProducer producer = BidProducer.start(bids, rate);
          KafkaConsumer<byte[], byte[]> consumer = consumer(windows)) {
        return show(job, producer, consumer, results);
      }
    }
  }

  private int show(
      LoggedProcess job,
      BidProducer producer,
      KafkaConsumer<byte[], byte[]> consumer,
      DemoResults results)
      throws Exception {
    long inKafka = 0;
    for (long second = 1; ; second++) {
      TimeUnit.SECONDS.sleep(1);
      if (!job.isAlive()) {
        out.println("the job ended:\n" + job.diagnosis());
        return FAILED;
      }
      inKafka += consumer.poll(Duration.ZERO).count();
      out.print(results.page(second, producer.sent(), inKafka, isPage));
      out.flush();
      if (inKafka >= enough && results.inPostgres() >= enough) {
        return 0;
      }
    }
  }

  private static LoggedProcess startJob(Path folder, Broker broker, Database database)
      throws IOException {
    Path configuration = folder.resolve("etl.yaml");
    Files.writeString(
        configuration,
        CONFIGURATION.formatted(
            broker.bootstrapServers(),
            database.jdbcUrl(),
            database.user(),
            folder.resolve("windows")));
    Path build = Path.of(System.getProperty("millrace.jobs.build"));
    List<String> arguments =
        new ArrayList<>(List.of(Files.readString(build.resolve("jvm.flags")).trim().split("\\s+")));
    arguments.addAll(
        List.of(
            "-Dlog4j2.configurationFile=" + build.resolve("classes/millrace-log4j2.properties"),
            "-cp",
            build.resolve("lib") + "/*",
            "io.millrace.jobs.StreamingEtl",
            "--config",
            configuration.toString()));
    return LoggedProcess.startJava(
        "the job", folder.resolve("etl.log"), arguments, Map.of("PGPASSWORD", database.password()));
  }

  private static KafkaConsumer<byte[], byte[]> consumer(KafkaTopic topic) {
    KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(
            Map.of(
                "bootstrap.servers", topic.bootstrapServers(),
                "group.id", "demo-reader",
                "auto.offset.reset", "earliest",
                "isolation.level", "read_committed",
                "max.poll.records", 100_000),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer());
    consumer.subscribe(List.of(topic.name()));
    return consumer;
  }
}
