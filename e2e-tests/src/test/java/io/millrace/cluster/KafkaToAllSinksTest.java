// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.postgres.Sql;
import io.millrace.process.Await;
import io.millrace.process.LoggedProcess;
import io.millrace.services.Broker;
import io.millrace.services.Database;
import io.millrace.services.KafkaTopic;
import io.millrace.services.Services;
import io.millrace.services.ZooKeeper;
import io.millrace.testing.RandomExtension;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The main job as a cluster runs it: bids as JSON in Kafka, filtered, grouped by auction and
 * window, to PostgreSQL, Kafka and Parquet files, while something fails. After each fault, what is
 * in each sink is compared row by row with SQL over the bids in PostgreSQL. One job runs through
 * all faults.
 */
@Tag("cluster")
class KafkaToAllSinksTest {
  /** How often each fault happens. */
  private static final int ROUNDS = Integer.getInteger("millrace.faults.rounds", 1);

  private static final int BIDS = 2_000;
  private static final int BIDS_AT_ONCE = 100;
  private static final int PARTITIONS = 3;
  private static final int TASK_MANAGERS = 2;
  private static final Duration PAUSE_OF_BROKER = Duration.ofSeconds(10);
  private static final Duration LIMIT = Duration.ofMinutes(5);

  private static final String CONFIGURATION =
      """
      source:
        type: kafka
        kafka: {bootstrap-servers: %1$s, topic: all-sinks-bids, group: all-sinks}
        schema: {auction: BIGINT NOT NULL, price: BIGINT NOT NULL, ts: TIMESTAMP(3) NOT NULL}
        watermark: {column: ts, delay: 5 s}
      where: price > 200
      group-by:
        keys: [auction]
        aggregates: {bids: COUNT(*), highest: MAX(price), total: SUM(price)}
        window: {tumble: 10 s, time: ts}
      sink:
        type: [kafka, postgres, files]
        kafka: {bootstrap-servers: %1$s, topic: all-sinks-windows, key: auction}
        postgres:
          url: %2$s
          user: %3$s
          table: bid_windows
          key: [auction, window_start]
        path: %4$s
        format: parquet
      bad-rows: {topic: all-sinks-dead-letters}
      checkpoint: {interval: 300 ms}
      """;

  private static ZooKeeper zooKeeper;
  private static Broker broker;
  private static Database database;
  private static ProcessCluster cluster;
  private static CheckpointedJob job;
  private static BidWindows windows;
  private static KafkaTopic source;
  private static KafkaTopic sink;
  private static KafkaTopic deadLetters;
  private static Path files;

  @RegisterExtension final RandomExtension random = new RandomExtension();

  private enum Fault {
    TASK_MANAGER_KILLED,
    JOB_MANAGER_KILLED,
    BROKER_PAUSED,
    BROKER_KILLED,
    DATABASE_KILLED_WHILE_COMMITTING,
    DISK_FULL,
    RECORDS_POISONED,
    ZOMBIE_RESUMED
  }

  @BeforeAll
  static void start() throws Exception {
    Path folder =
        Files.createTempDirectory(
            Files.createDirectories(Path.of(System.getProperty("millrace.cluster.logs"))),
            "all-sinks-");
    files = folder.resolve("windows");
    broker = Services.startBroker();
    database = Services.startDatabase();
    windows = new BidWindows(database);
    source = KafkaTopic.create(broker, "all-sinks-bids", PARTITIONS);
    sink = KafkaTopic.create(broker, "all-sinks-windows", 2);
    deadLetters = KafkaTopic.create(broker, "all-sinks-dead-letters", 1);
    zooKeeper = ZooKeeper.start(folder.resolve("zookeeper"));
    Map<String, String> options = new HashMap<>(zooKeeper.highAvailability());
    // After this time the JobManager calls a TaskManager dead that is stopped.
    options.put("heartbeat.timeout", "8 s");
    cluster = ProcessCluster.start(folder, options);
    cluster.setTaskManagers(TASK_MANAGERS);
    job = CheckpointedJob.run(cluster, submission(folder));
  }

  private static JobSubmission submission(Path folder) throws Exception {
    Path configuration = folder.resolve("etl.yaml");
    Files.writeString(
        configuration,
        CONFIGURATION.formatted(
            broker.bootstrapServers(), database.jdbcUrl(), database.user(), files));
    return new JobSubmission(
        Path.of(System.getProperty("millrace.cluster.etl.jar")),
        "io.millrace.jobs.StreamingEtl",
        List.of("--config=" + configuration),
        2,
        Optional.empty(),
        Map.of());
  }

  @AfterAll
  static void stop() {
    IOUtils.closeAllQuietly(cluster, zooKeeper, broker, database);
  }

  @ParameterizedTest
  @EnumSource
  void eachWindowIsInEachSinkOnce(Fault fault) throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      round(fault);
      System.out.println(
          "%s, round %d of %d, seed %d: %d windows and %d dead letters once, restored from %s"
              .formatted(
                  fault,
                  round + 1,
                  ROUNDS,
                  random.seed(),
                  windows.expectedCount(),
                  windows.malformed().size(),
                  job.restoredCheckpoint().map(id -> "checkpoint " + id).orElse("none")));
    }
  }

  private void round(Fault fault) throws Exception {
    int count = fault == Fault.RECORDS_POISONED ? 10 * BIDS : BIDS;
    List<String> bids = windows.next(count, random.random());
    CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> send(bids));
    Thread.sleep(random.random().nextInt(1000));
    inject(fault, sent);
    sent.get();
    awaitCommitted();

    List<String> expected = windows.expected();
    assertThat(windows.inPostgres()).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(sink.read("read_committed")).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(BidWindows.inParquet(files)).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(deadLetters.read("read_committed"))
        .containsExactlyInAnyOrderElementsOf(windows.malformed());
  }

  // Slowly, so that some are sent before the fault and some behind it.
  private static void send(List<String> bids) {
    try {
      for (int from = 0; from < bids.size(); from += BIDS_AT_ONCE) {
        source.sendValues(bids.subList(from, Math.min(bids.size(), from + BIDS_AT_ONCE)));
      }
    } catch (Exception e) {
      throw new CompletionException(e);
    }
  }

  private void inject(Fault fault, CompletableFuture<Void> sent) throws Exception {
    long checkpoint = job.awaitCheckpointSinceRestored();
    switch (fault) {
      case TASK_MANAGER_KILLED -> {
        cluster.killTaskManager(aTaskManager().name());
        cluster.startTaskManager();
        job.awaitRestoredSince(checkpoint);
      }
      case JOB_MANAGER_KILLED -> {
        cluster.replaceJobManager();
        job.awaitRestoredSince(checkpoint);
      }
      case BROKER_PAUSED -> {
        broker.pause();
        Thread.sleep(PAUSE_OF_BROKER.toMillis());
        broker.resume();
      }
      case BROKER_KILLED -> {
        broker.kill();
        broker.start();
      }
      case DATABASE_KILLED_WHILE_COMMITTING -> {
        sent.get();
        killDatabaseWhileCommitting();
      }
      case DISK_FULL -> {
        sent.get();
        limitFileSize("0");
        endWindows();
        job.awaitRestoredSince(checkpoint);
        limitFileSize("unlimited");
      }
      case RECORDS_POISONED -> {}
      case ZOMBIE_RESUMED -> {
        LoggedProcess zombie = aTaskManager();
        zombie.pause();
        try {
          job.awaitRestoredSince(checkpoint);
        } finally {
          zombie.resume();
        }
        cluster.awaitRegistered();
      }
    }
  }

  /** One of the TaskManagers that the job runs on. */
  private LoggedProcess aTaskManager() throws Exception {
    Set<String> names = job.taskManagers();
    List<LoggedProcess> used =
        cluster.taskManagers().stream().filter(process -> names.contains(process.name())).toList();
    return used.get(random.random().nextInt(used.size()));
  }

  private static void limitFileSize(String bytes) throws Exception {
    for (LoggedProcess taskManager : cluster.taskManagers()) {
      taskManager.limitFileSize(bytes);
    }
  }

  private static void killDatabaseWhileCommitting() throws Exception {
    Sql sql = new Sql(database);
    sql.execute(
        "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS"
            + " $$BEGIN PERFORM pg_sleep(1); RETURN NULL; END$$",
        "CREATE TRIGGER slow AFTER INSERT ON bid_windows FOR EACH STATEMENT EXECUTE FUNCTION"
            + " slow()");
    Await.until(
        "a commit is under way",
        LIMIT,
        () -> {
          endWindows();
          return isCommitting(sql);
        },
        cluster::diagnosis);
    database.kill();
    database.start();
    sql.execute("DROP TRIGGER slow ON bid_windows", "DROP FUNCTION slow()");
  }

  private static boolean isCommitting(Sql sql) throws SQLException {
    return sql.number(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'"
                + " AND application_name LIKE 'millrace%'")
        > 0;
  }

  // A job that is restored behind the records that end the windows has no watermark until it reads
  // others.
  private static void endWindows() throws Exception {
    source.send(windows.windowEnds(source));
  }

  private static void awaitCommitted() throws Exception {
    long count = windows.expectedCount();
    Await.until(
        count + " windows and " + windows.malformed().size() + " dead letters are committed",
        LIMIT,
        () -> {
          endWindows();
          return windows.inPostgres().size() >= count
              && sink.read("read_committed").size() >= count
              && BidWindows.inParquet(files).size() >= count
              && deadLetters.read("read_committed").size() >= windows.malformed().size();
        },
        cluster::diagnosis);
  }
}
