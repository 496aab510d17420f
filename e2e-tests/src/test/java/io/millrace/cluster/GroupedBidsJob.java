// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.cluster.job.BidFunctions;
import io.millrace.connectors.nexmark.Bid;
import io.millrace.connectors.nexmark.NexmarkConfiguration;
import io.millrace.connectors.nexmark.NexmarkGenerator;
import io.millrace.process.CommittedFiles;
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
 * A job that aggregates generated bids by auction and bidder, or by these and window. Without
 * windows it writes each change, so that nothing is hidden by a later result. Most pairs come for a
 * short time only, so that incremental checkpoints find pages that did not change.
 */
record GroupedBidsJob(int bidCount, Path output, Kind kind) {
  /** How bids are aggregated. */
  enum Kind {
    /** By the main job. */
    GROUP_BY(0),
    /** Likewise, by windows of a second, which overlap: so there are tables that do not change. */
    WINDOWS(1),
    /** By {@link BidFunctions}: with values, a map and timers, and a function of a user. */
    FUNCTIONS(2);

    private final int firstRound;

    Kind(int firstRound) {
      this.firstRound = firstRound;
    }

    /** The first of its rounds, so that the rounds of all kinds differ. */
    int firstRound() {
      return firstRound;
    }
  }

  private static final long WINDOW_MILLIS = 1_000;
  private static final long SLIDE_MILLIS = 250;
  private static final int SHOWN = 20;
  private static final DateTimeFormatter MILLIS =
      DateTimeFormatter.ofPattern("yyyy-MM-dd'T'HH:mm:ss.SSS").withZone(ZoneOffset.UTC);

  /** The job to submit. It asks for no checkpoint while it runs. */
  JobSubmission submission(int parallelism, int bidsPerSecond) {
    return kind == Kind.FUNCTIONS
        ? functions(parallelism, bidsPerSecond)
        : mainJob(parallelism, bidsPerSecond);
  }

  private JobSubmission functions(int parallelism, int bidsPerSecond) {
    return new JobSubmission(
        Path.of(System.getProperty("millrace.cluster.job.jar")),
        BidFunctions.class.getName(),
        List.of(String.valueOf(bidCount), String.valueOf(bidsPerSecond), output.toUri().toString()),
        parallelism,
        Optional.empty(),
        Map.of("execution.checkpointing.interval", RowsJob.LONGER_THAN_THE_TEST));
  }

  private JobSubmission mainJob(int parallelism, int bidsPerSecond) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--events=" + bidCount,
                "--rate=" + bidsPerSecond,
                "--batch-rows=5000",
                "--group-by=auction,bidder",
                "--aggregates=COUNT(*) AS bids, SUM(price) AS total, MAX(price) AS highest",
                "--checkpoint-interval=" + RowsJob.LONGER_THAN_THE_TEST,
                "--parallelism=" + parallelism,
                "--append",
                "--output=" + output.toUri()));
    arguments.addAll(
        isWindowed()
            ? List.of(
                "--window-time=date_time",
                "--hop=" + WINDOW_MILLIS + "ms",
                "--slide=" + SLIDE_MILLIS + "ms")
            : List.of("--group-by-result=changes"));
    return new JobSubmission(
        Path.of(System.getProperty("millrace.cluster.etl.jar")),
        "io.millrace.jobs.StreamingEtl",
        arguments,
        parallelism,
        Optional.empty(),
        Map.of());
  }

  private boolean isWindowed() {
    return kind == Kind.WINDOWS;
  }

  /** The lines that are committed. */
  List<String> committed() throws IOException {
    return CommittedFiles.lines(output);
  }

  /**
   * Fails unless the committed rows are those of a program that sums all bids once. A change counts
   * as one row more or one less: what remains is one row per key.
   */
  void assertResults() throws IOException {
    Map<String, Integer> lost = new HashMap<>();
    sums().forEach((key, sums) -> lost.put(line(key, sums), 1));
    for (String line : committed()) {
      lost.merge(
          isWindowed() ? line : line.substring(line.indexOf(',') + 1), -sign(line), this::add);
    }
    assertThat(lost.entrySet().stream().limit(SHOWN))
        .as("%d rows, and how often each is lost; doubled rows are below zero", lost.size())
        .isEmpty();
  }

  // null removes the entry.
  private Integer add(int count, int more) {
    return count + more == 0 ? null : count + more;
  }

  private int sign(String line) {
    return !isWindowed() && (line.startsWith("UPDATE_BEFORE,") || line.startsWith("DELETE,"))
        ? -1
        : 1;
  }

  /** The key of a row of the result. */
  private record Key(long auction, long bidder, long windowStart) {}

  private Map<Key, long[]> sums() {
    NexmarkGenerator generator = new NexmarkGenerator(NexmarkConfiguration.DEFAULT);
    Map<Key, long[]> sums = new HashMap<>();
    for (long number = 0; number < bidCount; number++) {
      Bid bid = generator.bid(NexmarkGenerator.eventOfBid(number));
      if (!isWindowed()) {
        add(bid, 0, sums);
        continue;
      }
      long last = bid.dateTime() - Math.floorMod(bid.dateTime(), SLIDE_MILLIS);
      for (long start = last; start > bid.dateTime() - WINDOW_MILLIS; start -= SLIDE_MILLIS) {
        add(bid, start, sums);
      }
    }
    return sums;
  }

  private static void add(Bid bid, long windowStart, Map<Key, long[]> sums) {
    long[] values =
        sums.computeIfAbsent(
            new Key(bid.auction(), bid.bidder(), windowStart),
            key -> new long[] {0, 0, Long.MIN_VALUE});
    values[0]++;
    values[1] += bid.price();
    values[2] = Math.max(values[2], bid.price());
  }

  private String line(Key key, long[] sums) {
    String line = key.auction + "," + key.bidder + "," + sums[0] + "," + sums[1] + "," + sums[2];
    return isWindowed()
        ? line + "," + text(key.windowStart) + "," + text(key.windowStart + WINDOW_MILLIS)
        : line;
  }

  private static String text(long millis) {
    return MILLIS.format(Instant.ofEpochMilli(millis));
  }
}
