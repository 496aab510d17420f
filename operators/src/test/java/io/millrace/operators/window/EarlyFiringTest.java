// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.firstValue;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.window.WindowHarness.Job;
import io.millrace.operators.window.WindowSubtasks.Snapshot;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Windows of event time that emit results before they end. */
@ExtendWith(NothingHeldExtension.class)
class EarlyFiringTest {
  private static final Schema ROWS =
      Schema.of(
          Field.of("k", DataType.STRING),
          new Field("v", DataType.INT32, false),
          new Field("x", DataType.FLOAT64, false),
          new Field("ts", DataType.timestamp(3), false));
  private static final TimeWindow TUMBLE = Tumble.over("ts", Duration.ofSeconds(10));
  private static final Duration INTERVAL = Duration.ofMillis(100);
  private static final String LONG = "a key of more than 12 bytes";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static Job job(Aggregate... aggregates) {
    return jobOf(TUMBLE, aggregates);
  }

  private static Job jobOf(TimeWindow window, Aggregate... aggregates) {
    return new Job(ROWS, List.of("k"), window, aggregates).withEarlyFiring(INTERVAL);
  }

  private static List<Object> row(String key, int value, long millis) {
    return List.of(
        key, value, 0.5, LocalDateTime.ofInstant(Instant.ofEpochMilli(millis), ZoneOffset.UTC));
  }

  @OutOfMemoryTest
  void openWindowsEmitWhatChangedAtEachInterval() throws Exception {
    try (WindowHarness harness = job(count().as("n"), sum("v").as("s")).open(device)) {
      harness.setProcessingTime(1_000);
      harness.send(0, List.of(row("a", 10, 0), row(LONG, 20, 1), row("a", 1, 12_000)));
      assertThat(harness.resultsAt(1_099)).isEmpty();
      harness.send(0, List.of(row("a", 5, 2)));
      assertThat(harness.resultsAt(1_100))
          .containsExactly(
              "+I[a, 2, 15] 0..10000",
              "+I[" + LONG + ", 1, 20] 0..10000",
              "+I[a, 1, 1] 10000..20000");
      // No row came since.
      assertThat(harness.resultsAt(1_300)).isEmpty();
      harness.send(0, List.of(row(LONG, 1, 3), row("b", 2, 4)));
      assertThat(harness.resultsAt(1_400))
          .containsExactly(
              "-U[" + LONG + ", 1, 20] 0..10000",
              "+U[" + LONG + ", 2, 21] 0..10000",
              "+I[b, 1, 2] 0..10000");
      assertThat(harness.batches().get(harness.batches().size() - 1).timestamp()).isEqualTo(9_999);
      harness.send(0, List.of(row("a", 4, 5)));
      assertThat(harness.results(9_999))
          .containsExactly("-U[a, 2, 15] 0..10000", "+U[a, 3, 19] 0..10000");
      assertThat(harness.rowsInState()).isEqualTo(1);
      assertThat(harness.results(Long.MAX_VALUE)).isEmpty();
      assertThat(harness.rowsInState()).isZero();
    }
  }

  // The third attempt is the last; then rows are added, combined or emitted in parts.
  @OutOfMemoryTest(attempts = 3)
  void rowsThatDoNotFitAreProcessedInParts() throws Exception {
    try (WindowHarness harness = job(count().as("n"), max("v").as("m")).open(device)) {
      harness.send(0, List.of(row("a", 1, 0), row(LONG, 2, 1), row("a", 3, 2), row("b", 4, 3)));
      assertThat(harness.results(9_999))
          .contains("+I[" + LONG + ", 1, 2] 0..10000", "+I[b, 1, 4] 0..10000")
          .containsAnyOf("+I[a, 2, 3] 0..10000", "+U[a, 2, 3] 0..10000");
    }
  }

  @Test
  void aKeyThatDoesNotChangeEmitsNothing() throws Exception {
    try (WindowHarness harness = job(max("v").as("m")).open(device)) {
      harness.setProcessingTime(0);
      harness.send(0, List.of(row("a", 5, 0)));
      assertThat(harness.resultsAt(100)).containsExactly("+I[a, 5] 0..10000");
      harness.send(0, List.of(row("a", 4, 0)));
      assertThat(harness.resultsAt(200)).isEmpty();
      harness.send(0, List.of(row("a", 3, 0)));
      assertThat(harness.results(9_999)).isEmpty();
    }
  }

  @OutOfMemoryTest
  void rowsBehindTheEndUpdateTheResultsAtOnce() throws Exception {
    Job job = job(count().as("n")).withAllowedLateness(Duration.ofSeconds(5)).keepingLateRows();
    try (WindowHarness harness = job.open(device)) {
      harness.setProcessingTime(0);
      harness.send(0, List.of(row("a", 1, 0)));
      assertThat(harness.resultsAt(100)).containsExactly("+I[a, 1] 0..10000");
      assertThat(harness.results(9_999)).isEmpty();
      harness.send(0, List.of(row("a", 2, 1), row("b", 3, 2), row("b", 4, 11_000)));
      assertThat(harness.takeResults())
          .containsExactly("-U[a, 1] 0..10000", "+U[a, 2] 0..10000", "+I[b, 1] 0..10000");
      assertThat(harness.results(14_999)).isEmpty();
      harness.send(0, List.of(row("a", 5, 3)));
      assertThat(harness.sideRows()).containsExactly(row("a", 5, 3));
      assertThat(harness.resultsAt(200)).containsExactly("+I[b, 1] 10000..20000");
    }
  }

  @OutOfMemoryTest
  void aCheckpointHasWhatWasEmitted() throws Exception {
    Job job = job(count().as("n"), sum("v").as("s"));
    OperatorSubtaskState state;
    try (WindowHarness harness = job.open(device)) {
      harness.setProcessingTime(0);
      harness.send(0, List.of(row("a", 1, 0)));
      harness.prepareSnapshot();
      assertThat(harness.takeResults()).containsExactly("+I[a, 1, 1] 0..10000");
      state = harness.snapshot();
      harness.send(0, List.of(row("a", 100, 0)));
    }
    try (WindowHarness harness = job.restore(device, state)) {
      harness.send(0, List.of(row("a", 2, 0)));
      assertThat(harness.results(9_999))
          .containsExactly("-U[a, 1, 1] 0..10000", "+U[a, 2, 3] 0..10000");
    }
  }

  @Test
  void windowsAreRescaled() throws Exception {
    Job job = job(count().as("n"));
    List<List<Object>> rows = List.of(row("a", 1, 0), row("b", 1, 1), row("c", 1, 2));
    Snapshot snapshot;
    try (WindowSubtasks subtasks = WindowSubtasks.open(device, job, 3, null)) {
      subtasks.send(rows);
      snapshot = subtasks.snapshot();
      assertThat(subtasks.results(0)).hasSize(3);
    }
    try (WindowSubtasks subtasks = WindowSubtasks.open(device, job, 2, snapshot)) {
      subtasks.send(rows);
      assertThat(subtasks.results(9_999))
          .containsExactlyInAnyOrder(
              "-U[a, 1] 0..10000",
              "+U[a, 2] 0..10000",
              "-U[b, 1] 0..10000",
              "+U[b, 2] 0..10000",
              "-U[c, 1] 0..10000",
              "+U[c, 2] 0..10000");
    }
  }

  @Test
  void windowsWithAndWithoutEarlyResultsHaveOtherCheckpoints() throws Exception {
    Job early = job(count().as("n"));
    Job atTheEnd = early.withEarlyFiring(Duration.ZERO);
    OperatorSubtaskState ofEarly = checkpoint(early);
    OperatorSubtaskState ofOther = checkpoint(atTheEnd);
    assertThatThrownBy(() -> atTheEnd.restore(device, ofEarly))
        .hasStackTraceContaining(
            "expected a checkpoint of windows without earlyFiring, got one with it");
    assertThatThrownBy(() -> early.restore(device, ofOther))
        .hasStackTraceContaining(
            "expected a checkpoint of windows with earlyFiring, got one without it");
  }

  private OperatorSubtaskState checkpoint(Job job) throws Exception {
    try (WindowHarness harness = job.open(device)) {
      harness.send(0, List.of(row("a", 1, 0)));
      harness.prepareSnapshot();
      return harness.snapshot();
    }
  }

  @Test
  void theResultsAreAChangelog() {
    assertThat(RowKindColumn.isIn(job(count().as("n")).plan().outputSchema())).isTrue();
    assertThat(job(count().as("n")).plan().toString())
        .endsWith(", rowtime(w$)], earlyFiring=[100 ms])");
  }

  @Test
  void whatCannotBeCombinedIsRefused() {
    TimeWindow now = Tumble.overProcessingTime(Duration.ofSeconds(10));
    TimeWindow sessions = Session.over("ts", Duration.ofSeconds(10));
    for (TimeWindow window : List.of(now, sessions)) {
      Job job = new Job(ROWS, List.of("k"), window, count()).withEarlyFiring(INTERVAL);
      assertThatThrownBy(job::plan)
          .isInstanceOf(ExpressionException.class)
          .hasMessage(
              "expected TUMBLE, HOP or CUMULATE of event time for early firing, got " + window);
    }
    for (Aggregate aggregate : List.of(firstValue("v"), avg("x"))) {
      assertThatThrownBy(() -> job(aggregate).plan())
          .isInstanceOf(ExpressionException.class)
          .hasMessageStartingWith(
              "expected aggregates for early firing that do not depend on the order of rows, nor"
                  + " compare values of more than 8 bytes, got");
    }
  }
}
