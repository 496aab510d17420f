// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import io.millrace.connectors.records.RecordDecodingOperator;
import io.millrace.jobs.operator.BadRowCountingFunction;
import io.millrace.jobs.operator.CountingOperator;
import io.millrace.jobs.operator.FailedRowCountingFunction;
import io.millrace.jobs.operator.TooManyBadRowsException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;

/** Prints how far a job is while it runs, and a table when it is done. */
final class EtlProgress {
  static final String IN = "in";
  static final String OUT = "out";
  static final String LATE = "late";
  private static final String LATE_ROWS = CountingOperator.ROWS + LATE;
  private static final Duration INTERVAL = Duration.ofSeconds(2);

  private final PrintStream out;
  private long startNanos;
  private long lastNanos;
  private long lastRows;

  EtlProgress(PrintStream out) {
    this.out = out;
  }

  /**
   * Waits for the job and prints a line every two seconds while it runs.
   *
   * @param stop ends the waiting when it is complete
   * @return the result of the job; empty if it must stop
   * @throws ExecutionException if the job fails
   */
  Optional<JobExecutionResult> await(JobClient client, CompletableFuture<Integer> stop)
      throws ExecutionException, InterruptedException {
    startNanos = System.nanoTime();
    lastNanos = startNanos;
    CompletableFuture<JobExecutionResult> result = client.getJobExecutionResult();
    while (!result.isDone() && !stop.isDone()) {
      try {
        CompletableFuture.anyOf(result, stop).get(INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        printLine(client);
      }
    }
    return result.isDone() ? Optional.of(result.get()) : Optional.empty();
  }

  /**
   * Stops the job after the rows that it has read are written and committed.
   *
   * @return the savepoint to resume from
   * @throws ExecutionException if the job fails or ends before that
   */
  String stopWithSavepoint(JobClient client, EtlPlan plan)
      throws ExecutionException, InterruptedException {
    out.println("stopping with a savepoint; a second signal ends the process at once");
    CompletableFuture<JobExecutionResult> result = client.getJobExecutionResult();
    String savepoint;
    try {
      savepoint =
          client
              .stopWithSavepoint(
                  false, EtlEnvironment.uri(plan.savepointsPath()), SavepointFormatType.CANONICAL)
              .get();
    } catch (IllegalStateException clusterIsGone) {
      result.get();
      throw new ExecutionException("the job ended before", clusterIsGone);
    }
    printTable(result.get(), plan);
    return savepoint;
  }

  /**
   * @throws TooManyBadRowsException if a finished job had more of them than its options allow
   */
  static void checkBadRows(JobExecutionResult result, EtlPlan plan) {
    Map<String, Object> counts = result.getAllAccumulatorResults();
    long badRows = count(counts, BadRowCountingFunction.BAD_ROWS);
    long allRows = rowsIn(counts) + badRows - count(counts, FailedRowCountingFunction.FAILED_ROWS);
    if (plan.badRowLimit().isExceeded(badRows, allRows)) {
      throw new TooManyBadRowsException(
          String.format(
              Locale.ROOT,
              "%,d of %,d rows are bad, more than bad-rows.max allows (%s); they are in %s",
              badRows,
              allRows,
              plan.badRowLimit(),
              plan.badRowsPath()));
    }
  }

  private void printLine(JobClient client) throws InterruptedException {
    Map<String, Object> counts;
    try {
      counts = client.getAccumulators().get();
    } catch (ExecutionException | IllegalStateException e) {
      // The job is starting or ending, and its cluster may be gone: its result tells more.
      return;
    }
    long now = System.nanoTime();
    long rows = rowsIn(counts);
    double rate = (rows - lastRows) * 1e9 / (now - lastNanos);
    out.println(
        String.format(
            Locale.ROOT,
            "%5d s  %,14d rows in  %,14d rows out  %,8d batches  %,12.0f rows/s%s",
            TimeUnit.NANOSECONDS.toSeconds(now - startNanos),
            rows,
            count(counts, CountingOperator.ROWS + OUT),
            count(counts, CountingOperator.BATCHES + IN),
            rate,
            more(counts, BadRowCountingFunction.BAD_ROWS, "bad rows")
                + more(counts, LATE_ROWS, "late rows")));
    lastNanos = now;
    lastRows = rows;
  }

  private static String more(Map<String, Object> counts, String name, String text) {
    long rows = count(counts, name);
    return rows == 0 ? "" : String.format(Locale.ROOT, "  %,d %s", rows, text);
  }

  /** Prints the counts of the finished job. */
  void printTable(JobExecutionResult result, EtlPlan plan) {
    Map<String, Object> counts = new TreeMap<>(result.getAllAccumulatorResults());
    double seconds = result.getNetRuntime(TimeUnit.MILLISECONDS) / 1e3;
    long rows = rowsIn(counts);
    long batches = count(counts, CountingOperator.BATCHES + IN);
    out.println();
    row("rows in", String.format(Locale.ROOT, "%,d", rows));
    row("rows out", String.format(Locale.ROOT, "%,d", count(counts, CountingOperator.ROWS + OUT)));
    long badRows = count(counts, BadRowCountingFunction.BAD_ROWS);
    row(
        "bad rows",
        String.format(Locale.ROOT, "%,d", badRows)
            + (badRows == 0 ? "" : ", in " + plan.badRowsPath()));
    if (plan.grouping().flatMap(EtlGrouping::window).isPresent()) {
      row(
          "late rows",
          String.format(Locale.ROOT, "%,d", count(counts, LATE_ROWS))
              + plan.lateRowsPath().map(path -> ", in " + path).orElse(""));
    }
    row(
        "batches in",
        String.format(
            Locale.ROOT, "%,d of %,d rows on average", batches, rows / Math.max(1, batches)));
    row(
        "batches out",
        String.format(Locale.ROOT, "%,d", count(counts, CountingOperator.BATCHES + OUT)));
    row("time", String.format(Locale.ROOT, "%.1f s", seconds));
    row("rows/s", String.format(Locale.ROOT, "%,.0f", rows / Math.max(0.001, seconds)));
    counts.keySet().stream()
        .filter(name -> name.startsWith(CountingOperator.DEVICE))
        .forEach(name -> row("device", name.substring(CountingOperator.DEVICE.length())));
    row("output", output(plan));
  }

  private static String output(EtlPlan plan) {
    return plan.sinkTypes().stream()
        .map(
            type ->
                switch (type) {
                  case FILES -> plan.sinkPath();
                  case KAFKA -> "topic " + plan.configuration().get(EtlKafkaSink.TOPIC);
                  case POSTGRES -> "table " + plan.configuration().get(EtlPostgresSink.TABLE);
                  case DISCARD -> "discarded";
                })
        .collect(Collectors.joining(", "));
  }

  private void row(String name, String value) {
    out.println(String.format(Locale.ROOT, "  %-12s %s", name, value));
  }

  // With those that the source dropped.
  private static long rowsIn(Map<String, Object> counts) {
    return count(counts, CountingOperator.ROWS + IN)
        + count(counts, RecordDecodingOperator.FILTERED_ROWS);
  }

  private static long count(Map<String, Object> counts, String name) {
    return counts.get(name) instanceof Long count ? count : 0;
  }
}
