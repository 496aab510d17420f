// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.postgres.Sql;
import io.millrace.process.Await;
import io.millrace.services.Database;
import io.millrace.services.KafkaTopic;
import io.millrace.services.SharedServices;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;

/**
 * The main job as a cluster runs it: bids as JSON in Kafka, filtered, grouped by auction and
 * window, to PostgreSQL, Kafka and files, while a TaskManager dies. What comes out is compared row
 * by row with SQL over the bids in PostgreSQL.
 */
@Tag("cluster")
class KafkaToAllSinksTest {
  private static final int BIDS = 60_000;
  private static final int PARTITIONS = 3;
  private static final int BIDS_PER_SECOND_OF_EVENT_TIME = 500;
  private static final int MAX_DISORDER_MILLIS = 4_000;
  private static final LocalDateTime START = LocalDateTime.parse("2026-01-01T00:00:00");
  private static final Duration LIMIT = Duration.ofMinutes(3);

  private static final String EXPECTED =
      "SELECT auction, COUNT(*) AS bids, MAX(price) AS highest, SUM(price)::bigint AS total,"
          + " date_bin('10 s', ts, '2026-01-01') AS window_start,"
          + " date_bin('10 s', ts, '2026-01-01') + interval '10 s' AS window_end"
          + " FROM raw_bids WHERE price > 200 GROUP BY auction, window_start";

  private static final String CONFIGURATION =
      """
      source:
        type: kafka
        kafka: {bootstrap-servers: %1$s, topic: %2$s-bids, group: %2$s}
        schema: {auction: BIGINT NOT NULL, price: BIGINT NOT NULL, ts: TIMESTAMP(3) NOT NULL}
        watermark: {column: ts, delay: 5 s}
      where: price > 200
      group-by:
        keys: [auction]
        aggregates: {bids: COUNT(*), highest: MAX(price), total: SUM(price)}
        window: {tumble: 10 s, time: ts}
      sink:
        type: [kafka, postgres, files]
        kafka: {bootstrap-servers: %1$s, topic: %2$s-windows, key: auction}
        postgres:
          url: %3$s
          user: %4$s
          table: bid_windows
          key: [auction, window_start]
        path: %5$s
        format: json
      bad-rows: {topic: %2$s-dead-letters}
      checkpoint: {interval: 300 ms}
      """;

  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension final ProcessClusterExtension processes = new ProcessClusterExtension();

  private final List<String> bids = new ArrayList<>();
  private final List<String> malformed = new ArrayList<>();
  private final StringBuilder rawBids = new StringBuilder();

  @Test
  void eachWindowIsInEachSinkOnceWhenATaskManagerDies() throws Exception {
    KafkaTopic source = KafkaTopic.create(services.broker(), "all-sinks-bids", PARTITIONS);
    KafkaTopic windows = KafkaTopic.create(services.broker(), "all-sinks-windows", 2);
    KafkaTopic deadLetters = KafkaTopic.create(services.broker(), "all-sinks-dead-letters", 1);
    makeBids(20261123);
    createTables();
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(2);
    Path files = processes.folder().resolve("windows");
    CheckpointedJob job = CheckpointedJob.run(cluster, submission(files));

    source.sendValues(bids.subList(0, BIDS / 2));
    awaitWindows(1, cluster);
    cluster.killTaskManager(cluster.taskManagers().get(0).name());
    cluster.startTaskManager();
    source.sendValues(bids.subList(BIDS / 2, BIDS));
    job.awaitRestored();
    endWindows(source);
    awaitWindows(sql().number("SELECT COUNT(*) FROM (" + EXPECTED + ") AS expected"), cluster);
    awaitCommits(windows, deadLetters, cluster);
    job.cancel();

    assertThat(sql().number(difference(EXPECTED, "SELECT * FROM bid_windows"))).isZero();
    assertThat(sql().number(difference("SELECT * FROM bid_windows", EXPECTED))).isZero();
    List<String> expected = expectedLines();
    assertThat(windows.read("read_committed")).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(CommittedFiles.lines(files)).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(deadLetters.read("read_committed")).containsExactlyInAnyOrderElementsOf(malformed);
  }

  private void makeBids(long seed) {
    Random random = new Random(seed);
    for (int i = 0; i < BIDS; i++) {
      if (random.nextInt(1000) == 0) {
        String poisoned = "{\"auction\": " + i + ", \"price\": oops" + i + "}";
        malformed.add(poisoned);
        bids.add(poisoned);
        continue;
      }
      long millis = i * 1000L / BIDS_PER_SECOND_OF_EVENT_TIME + random.nextInt(MAX_DISORDER_MILLIS);
      LocalDateTime time = START.plus(Duration.ofMillis(millis));
      long auction = random.nextInt(500);
      long price = random.nextInt(1000);
      bids.add(
          "{\"auction\": %d, \"price\": %d, \"ts\": \"%s\", \"channel\": {\"name\": \"x\"}}"
              .formatted(auction, price, time.toString().replace('T', ' ')));
      rawBids.append(auction).append(',').append(price).append(',').append(time).append('\n');
    }
  }

  /** Sends each partition a bid that is filtered out and ends all windows. */
  private static void endWindows(KafkaTopic source) throws Exception {
    String last = "{\"auction\": 0, \"price\": 0, \"ts\": \"2027-01-01 00:00:00\"}";
    List<ProducerRecord<String, String>> records = new ArrayList<>();
    for (int partition = 0; partition < PARTITIONS; partition++) {
      records.add(new ProducerRecord<>(source.name(), partition, null, last));
    }
    source.send(records);
  }

  private JobSubmission submission(Path files) throws Exception {
    Database database = services.database();
    Path configuration = processes.folder().resolve("etl.yaml");
    Files.writeString(
        configuration,
        CONFIGURATION.formatted(
            services.broker().bootstrapServers(),
            "all-sinks",
            database.jdbcUrl(),
            database.user(),
            files));
    return new JobSubmission(
        Path.of(System.getProperty("millrace.cluster.etl.jar")),
        "io.millrace.jobs.StreamingEtl",
        List.of("--config=" + configuration),
        2,
        Optional.empty(),
        Map.of());
  }

  private void createTables() throws Exception {
    sql()
        .execute(
            "CREATE TABLE raw_bids (auction bigint, price bigint, ts timestamp(3))",
            "CREATE TABLE bid_windows (auction bigint NOT NULL, bids bigint NOT NULL, highest"
                + " bigint, total bigint, window_start timestamp(3) NOT NULL, window_end"
                + " timestamp(3) NOT NULL, PRIMARY KEY (auction, window_start))");
    try (Connection connection = services.database().connect()) {
      connection
          .unwrap(PGConnection.class)
          .getCopyAPI()
          .copyIn(
              "COPY raw_bids FROM STDIN (FORMAT csv)",
              new ByteArrayInputStream(rawBids.toString().getBytes(StandardCharsets.UTF_8)));
    }
  }

  private static void awaitWindows(long count, ProcessCluster cluster) throws Exception {
    Await.until(
        count + " windows are in PostgreSQL",
        LIMIT,
        () -> sql().number("SELECT COUNT(*) FROM bid_windows") >= count,
        cluster::diagnosis);
  }

  // The sinks commit one after the other.
  private void awaitCommits(KafkaTopic windows, KafkaTopic deadLetters, ProcessCluster cluster)
      throws Exception {
    long expected = sql().number("SELECT COUNT(*) FROM (" + EXPECTED + ") AS expected");
    Await.until(
        expected + " windows and " + malformed.size() + " dead letters are committed",
        LIMIT,
        () ->
            windows.read("read_committed").size() >= expected
                && deadLetters.read("read_committed").size() >= malformed.size(),
        cluster::diagnosis);
  }

  private static String difference(String query, String other) {
    return "SELECT COUNT(*) FROM ((" + query + ") EXCEPT ALL (" + other + ")) AS difference";
  }

  private static List<String> expectedLines() throws Exception {
    return sql()
        .strings(
            "SELECT format('{\"auction\":%s,\"bids\":%s,\"highest\":%s,\"total\":%s,"
                + "\"window_start\":\"%s\",\"window_end\":\"%s\"}', auction, bids, highest, total,"
                + " to_char(window_start, 'YYYY-MM-DD\"T\"HH24:MI:SS.MS'),"
                + " to_char(window_end, 'YYYY-MM-DD\"T\"HH24:MI:SS.MS'))"
                + " FROM ("
                + EXPECTED
                + ") AS expected");
  }

  private static Sql sql() {
    return new Sql(services.database());
  }
}
