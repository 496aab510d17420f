// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.connectors.nexmark.Bid;
import io.millrace.connectors.nexmark.NexmarkConfiguration;
import io.millrace.connectors.nexmark.NexmarkGenerator;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The main job, which aggregates generated bids by auction, or by auction and second. By auction it
 * writes each change, so that nothing is hidden by a later result.
 *
 * @param isWindowed whether bids are grouped by second, too
 * @param configuration Flink options of the job
 */
record GroupedBidsJob(
    int bidCount, Path output, boolean isWindowed, Map<String, String> configuration) {
  private static final long WINDOW_MILLIS = 1_000;
  private static final DateTimeFormatter MILLIS =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS").withZone(ZoneOffset.UTC);

  /** The job to submit. It asks for no checkpoint while it runs. */
  JobSubmission submission(int parallelism, int bidsPerSecond) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--events=" + bidCount,
                "--rate=" + bidsPerSecond,
                // The source counts in batches: their size must not depend on the rate.
                "--batch-rows=100",
                "--group-by=auction",
                "--aggregates=COUNT(*) AS bids, SUM(price) AS total, MAX(price) AS highest",
                "--checkpoint-interval=" + RowsJob.LONGER_THAN_THE_TEST,
                "--parallelism=" + parallelism,
                "--append",
                "--output=" + output.toUri()));
    arguments.addAll(
        isWindowed
            ? List.of("--window-time=date_time", "--tumble=" + WINDOW_MILLIS + "ms")
            : List.of("--group-by-result=changes"));
    return new JobSubmission(
        Path.of(System.getProperty("millrace.cluster.etl.jar")),
        "io.millrace.jobs.StreamingEtl",
        arguments,
        parallelism,
        Optional.empty(),
        configuration);
  }

  /** The lines that are committed. */
  List<String> committed() throws IOException {
    return CommittedFiles.lines(output);
  }

  /**
   * Fails unless the committed rows are those of a program that sums all bids once. A change counts
   * as one row more or one less: what remains is one row per auction.
   */
  void assertResults() throws IOException {
    Map<String, Integer> expected = new HashMap<>();
    sums().forEach((key, sums) -> expected.put(line(key, sums), 1));
    Map<String, Integer> actual = new HashMap<>();
    for (String line : committed()) {
      actual.merge(
          isWindowed ? line : line.substring(line.indexOf(',') + 1), sign(line), this::add);
    }
    assertThat(actual).isEqualTo(expected);
  }

  // null removes the entry.
  private Integer add(int count, int more) {
    return count + more == 0 ? null : count + more;
  }

  private int sign(String line) {
    return !isWindowed && (line.startsWith("UPDATE_BEFORE,") || line.startsWith("DELETE,"))
        ? -1
        : 1;
  }

  /** The key of a row of the result. */
  private record Key(long auction, long windowStart) {}

  private Map<Key, long[]> sums() {
    NexmarkGenerator generator = new NexmarkGenerator(NexmarkConfiguration.DEFAULT);
    Map<Key, long[]> sums = new HashMap<>();
    for (long number = 0; number < bidCount; number++) {
      Bid bid = generator.bid(NexmarkGenerator.eventOfBid(number));
      long start = isWindowed ? bid.dateTime() - Math.floorMod(bid.dateTime(), WINDOW_MILLIS) : 0;
      long[] values =
          sums.computeIfAbsent(
              new Key(bid.auction(), start), key -> new long[] {0, 0, Long.MIN_VALUE});
      values[0]++;
      values[1] += bid.price();
      values[2] = Math.max(values[2], bid.price());
    }
    return sums;
  }

  private String line(Key key, long[] sums) {
    String line = key.auction + "," + sums[0] + "," + sums[1] + "," + sums[2];
    return isWindowed
        ? line + "," + text(key.windowStart) + "," + text(key.windowStart + WINDOW_MILLIS)
        : line;
  }

  private static String text(long millis) {
    return MILLIS.format(Instant.ofEpochMilli(millis));
  }
}
