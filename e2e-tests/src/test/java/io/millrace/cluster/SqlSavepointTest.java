// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.connectors.nexmark.Bid;
import io.millrace.process.CommittedFiles;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Savepoints of SQL jobs with {@code table.exec.uid.generation} = {@code ALWAYS}: a job without
 * Millrace's operators resumes with them, and the other way round, if the nodes that keep state are
 * the same; Flink refuses the state of others.
 */
@Tag("cluster")
class SqlSavepointTest {
  private static final int BIDS_PER_SECOND = 2_500;
  private static final int BIDS = 100_000;
  private static final Map<String, String> OFF = Map.of("millrace.sql", "off");

  @RegisterExtension final ProcessClusterExtension processes = new ProcessClusterExtension();

  private BidSqlJob job(String columns, String query, String format) {
    return new BidSqlJob(
        BIDS,
        List.of(
            "CREATE TABLE results (%s) WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = '%s')"
                .formatted(columns, output("results").toUri(), format),
            "INSERT INTO results " + query));
  }

  private Path output(String name) {
    return processes.folder().resolve(name);
  }

  /** The running total of each auction, which Flink's operator computes of Millrace's batches. */
  @Test
  void stateOfFlinksOperatorsGoesOnWithMillraceAndBack() throws Exception {
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(2);
    BidSqlJob bids =
        job(
            "auction BIGINT, bidder BIGINT, price BIGINT, total BIGINT",
            """
            SELECT auction, bidder, price * 2, SUM(price * 2) OVER (
              PARTITION BY auction ORDER BY date_time RANGE UNBOUNDED PRECEDING)
            FROM bid WHERE MOD(auction, 3) = 0
            """,
            "csv");
    JobSubmission millrace = bids.submission(2, BIDS_PER_SECOND);

    CheckpointedJob first = CheckpointedJob.run(cluster, millrace.withConfiguration(OFF));
    assertThat(first.operators()).noneMatch(name -> name.contains("Millrace"));
    assertThat(first.awaitRowsInFlight()).isPositive();
    String savepoint = first.stopWithSavepoint(output("savepoints"));

    CheckpointedJob second = CheckpointedJob.run(cluster, millrace.restoredFrom(savepoint));
    assertThat(second.operators())
        .anyMatch(name -> name.contains("MillraceCalc"))
        .anyMatch(name -> name.contains("OverAggregate") && !name.contains("MillraceOver"));
    assertThat(second.awaitRowsInFlight()).isPositive();
    savepoint = second.stopWithSavepoint(output("savepoints"));

    CheckpointedJob.run(
            cluster, bids.submission(2, 0).withConfiguration(OFF).restoredFrom(savepoint))
        .awaitFinished();
    assertThat(CommittedFiles.lines(output("results")))
        .containsExactlyInAnyOrderElementsOf(runningTotals(bids));
  }

  private static List<String> runningTotals(BidSqlJob job) {
    Map<Long, TreeMap<Long, List<Bid>>> auctions = new HashMap<>();
    job.bids()
        .filter(bid -> bid.auction() % 3 == 0)
        .forEach(
            bid ->
                auctions
                    .computeIfAbsent(bid.auction(), auction -> new TreeMap<>())
                    .computeIfAbsent(bid.dateTime(), time -> new ArrayList<>())
                    .add(bid));
    List<String> lines = new ArrayList<>();
    for (TreeMap<Long, List<Bid>> times : auctions.values()) {
      long total = 0;
      for (List<Bid> together : times.values()) {
        total += together.stream().mapToLong(bid -> bid.price() * 2).sum();
        for (Bid bid : together) {
          lines.add("%d,%d,%d,%d".formatted(bid.auction(), bid.bidder(), bid.price() * 2, total));
        }
      }
    }
    return lines;
  }

  @Test
  void stateOfAReplacedNodeIsRefusedUnlessItStaysFlinks() throws Exception {
    ProcessCluster cluster = processes.cluster();
    cluster.setTaskManagers(1);
    BidSqlJob bids =
        job(
            "auction BIGINT, bids BIGINT",
            "SELECT auction, COUNT(*) FROM bid WHERE price > 0 GROUP BY auction",
            "debezium-json");
    JobSubmission millrace = bids.submission(1, BIDS_PER_SECOND);

    CheckpointedJob stock = CheckpointedJob.run(cluster, millrace.withConfiguration(OFF));
    assertThat(stock.awaitRowsInFlight()).isPositive();
    JobSubmission restored = millrace.restoredFrom(stock.stopWithSavepoint(output("savepoints")));

    assertThatThrownBy(() -> CheckpointedJob.run(cluster, restored))
        .hasStackTraceContaining("Cannot map checkpoint/savepoint state for operator")
        .hasStackTraceContaining("because the operator is not available in the new program");

    CheckpointedJob kept =
        CheckpointedJob.run(
            cluster,
            restored.withConfiguration(Map.of("millrace.sql.disabled-nodes", "GroupAggregate")));
    assertThat(kept.operators())
        .anyMatch(name -> name.contains("MillraceCalc"))
        .noneMatch(name -> name.contains("MillraceGroupAggregate"));
    assertThat(kept.awaitRowsInFlight()).isPositive();
    JobSubmission back = millrace.restoredFrom(kept.stopWithSavepoint(output("savepoints")));
    assertThatThrownBy(() -> CheckpointedJob.run(cluster, back))
        .hasStackTraceContaining("because the operator is not available in the new program");
  }
}
