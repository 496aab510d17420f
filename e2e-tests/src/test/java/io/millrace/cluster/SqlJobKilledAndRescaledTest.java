// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.connectors.nexmark.Bid;
import io.millrace.process.CommittedFiles;
import io.millrace.testing.RandomExtension;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * TaskManagers of a SQL job with a window aggregate and an aggregate of all bids die (SIGKILL) at
 * random moments, and the job is restored with another parallelism: from an unaligned checkpoint,
 * then from a savepoint. What is committed in the end is what a simple program says, row for row.
 */
@Tag("cluster")
class SqlJobKilledAndRescaledTest {
  private static final int BIDS_PER_SECOND = 2_500;
  // Far more than is needed on an idle machine; what is left of the bids is read at once.
  private static final int BIDS = 150_000;
  private static final long WINDOW_MILLIS = 1_000;
  private static final DateTimeFormatter SECONDS =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").withZone(ZoneOffset.UTC);
  private static final Map<String, String> UNALIGNED =
      Map.of("execution.checkpointing.unaligned.enabled", "true");

  @RegisterExtension final ProcessClusterExtension processes = new ProcessClusterExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private Path output(String name) {
    return processes.folder().resolve(name);
  }

  private String files(String name, String format) {
    return " WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = '%s')"
        .formatted(output(name).toUri(), format);
  }

  private BidSqlJob job() {
    return new BidSqlJob(
        BIDS,
        List.of(
            "CREATE TABLE windows (auction BIGINT, bids BIGINT, highest BIGINT,"
                + " window_start TIMESTAMP(3))"
                + files("windows", "csv"),
            "CREATE TABLE totals (auction BIGINT, bidder BIGINT, bids BIGINT, total BIGINT)"
                + files("totals", "debezium-json"),
            """
            EXECUTE STATEMENT SET BEGIN
            INSERT INTO windows SELECT auction, COUNT(*), MAX(price), window_start
            FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(date_time), INTERVAL '1' SECOND))
            GROUP BY auction, window_start, window_end;
            INSERT INTO totals SELECT auction, bidder, COUNT(*), SUM(price) FROM bid
            WHERE price > 0 GROUP BY auction, bidder;
            END
            """));
  }

  @Test
  // Each wait has a limit of its own.
  @Timeout(value = 1, unit = TimeUnit.HOURS)
  void eachBidIsCountedOnce() throws Exception {
    ProcessCluster cluster = processes.cluster();
    // Without one of them there are slots enough: no round waits until another one has started.
    cluster.setTaskManagers(3);
    BidSqlJob bids = job();
    Random moments = random.random();

    CheckpointedJob two =
        CheckpointedJob.run(
            cluster, bids.submission(2, BIDS_PER_SECOND).withConfiguration(UNALIGNED));
    assertThat(two.operators())
        .anyMatch(name -> name.contains("MillraceExchange"))
        .anyMatch(name -> name.contains("MillraceGroupAggregate"))
        .anyMatch(name -> name.contains("MillraceGlobalWindowAggregate"));
    killOne(two, moments);
    killOne(two, moments);
    two.checkpoint();
    assertThat(two.awaitRowsInFlight()).isPositive();
    two.cancel();

    CheckpointedJob three =
        CheckpointedJob.run(
            cluster,
            bids.submission(3, BIDS_PER_SECOND)
                .withConfiguration(UNALIGNED)
                .restoredFrom(two.checkpointPath()));
    killOne(three, moments);
    assertThat(three.awaitRowsInFlight()).isPositive();
    String savepoint = three.stopWithSavepoint(output("savepoints"));

    CheckpointedJob.run(
            cluster, bids.submission(1, 0).withConfiguration(UNALIGNED).restoredFrom(savepoint))
        .awaitFinished();
    assertThat(windowsMissing(bids)).as("windows, and how often each is lost").isEmpty();
    assertThat(totalsMissing(bids)).as("totals, and how often each is lost").isEmpty();
  }

  private void killOne(CheckpointedJob job, Random moments) throws Exception {
    ProcessCluster cluster = processes.cluster();
    long checkpoint = job.checkpoint();
    for (int i = moments.nextInt(4); i >= 0; i--) {
      assertThat(job.awaitRowsInFlight()).isPositive();
    }
    List<String> used = job.taskManagers().stream().sorted().toList();
    cluster.killTaskManager(used.get(moments.nextInt(used.size())));
    cluster.startTaskManager();
    job.awaitRestoredFrom(checkpoint);
  }

  private record Window(long auction, long startMillis) {
    static Window of(Bid bid) {
      return new Window(
          bid.auction(), bid.dateTime() - Math.floorMod(bid.dateTime(), WINDOW_MILLIS));
    }
  }

  private Map<String, Integer> windowsMissing(BidSqlJob job) throws Exception {
    Map<Window, long[]> windows = new HashMap<>();
    job.bids().forEach(bid -> add(windows, bid, Window.of(bid)));
    Map<String, Integer> missing = new HashMap<>();
    windows.forEach(
        (window, values) -> {
          String start = SECONDS.format(Instant.ofEpochMilli(window.startMillis()));
          count(
              missing,
              "%d,%d,%d,\"%s\"".formatted(window.auction(), values[0], values[2], start),
              1);
        });
    for (String line : CommittedFiles.lines(output("windows"))) {
      count(missing, line, -1);
    }
    return missing;
  }

  private Map<String, Integer> totalsMissing(BidSqlJob job) throws Exception {
    Map<String, long[]> totals = new HashMap<>();
    job.bids().forEach(bid -> add(totals, bid, bid.auction() + "," + bid.bidder()));
    Map<String, Integer> missing = new HashMap<>();
    totals.forEach((key, values) -> count(missing, key + "," + values[0] + "," + values[1], 1));
    ObjectMapper json = new ObjectMapper();
    for (String line : CommittedFiles.lines(output("totals"))) {
      JsonNode change = json.readTree(line);
      boolean isDeletion = change.get("op").asText().equals("d");
      JsonNode row = change.get(isDeletion ? "before" : "after");
      count(missing, text(row), isDeletion ? 1 : -1);
    }
    return missing;
  }

  private static String text(JsonNode row) {
    return "%s,%s,%s,%s"
        .formatted(row.get("auction"), row.get("bidder"), row.get("bids"), row.get("total"));
  }

  private static <K> void add(Map<K, long[]> groups, Bid bid, K key) {
    long[] values = groups.computeIfAbsent(key, k -> new long[] {0, 0, Long.MIN_VALUE});
    values[0]++;
    values[1] += bid.price();
    values[2] = Math.max(values[2], bid.price());
  }

  // null removes the entry.
  private static void count(Map<String, Integer> rows, String row, int more) {
    rows.merge(row, more, (a, b) -> a + b == 0 ? null : a + b);
  }
}
