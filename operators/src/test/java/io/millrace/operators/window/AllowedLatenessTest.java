// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.lastValue;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
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
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Windows of event time that take rows behind their end. */
@ExtendWith(NothingHeldExtension.class)
class AllowedLatenessTest {
  private static final Schema ROWS =
      Schema.of(
          Field.of("k", DataType.STRING),
          new Field("v", DataType.INT32, false),
          new Field("ts", DataType.timestamp(3), false));
  private static final TimeWindow TUMBLE = Tumble.over("ts", Duration.ofSeconds(10));
  private static final TimeWindow HOP =
      Hop.over("ts", Duration.ofSeconds(10)).every(Duration.ofSeconds(5));
  private static final TimeWindow CUMULATE =
      Cumulate.over("ts", Duration.ofSeconds(15)).every(Duration.ofSeconds(5));
  private static final Duration LATENESS = Duration.ofSeconds(5);
  private static final String LONG = "a key of more than 12 bytes";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static Job job(Aggregate... aggregates) {
    return new Job(ROWS, List.of("k"), TUMBLE, aggregates).withAllowedLateness(LATENESS);
  }

  private static List<Object> row(String key, int value, long millis) {
    return List.of(
        key, value, LocalDateTime.ofInstant(Instant.ofEpochMilli(millis), ZoneOffset.UTC));
  }

  private static List<String> results(WindowHarness harness, List<?>... rows) throws Exception {
    harness.send(0, List.of(rows));
    return harness.takeResults();
  }

  @OutOfMemoryTest
  void lateRowsUpdateTheResultsOfAWindow() throws Exception {
    try (WindowHarness harness = job(count().as("n"), sum("v").as("s")).open(device)) {
      assertThat(results(harness, row("a", 10, 0), row(LONG, 20, 1_000))).isEmpty();
      assertThat(harness.results(9_999))
          .containsExactly("+I[a, 1, 10] 0..10000", "+I[" + LONG + ", 1, 20] 0..10000");
      assertThat(
              results(
                  harness,
                  row(LONG, 1, 3_000),
                  row("b", 7, 4_000),
                  row("b", 4, 12_000),
                  row(LONG, 2, 5_000)))
          .containsExactly(
              "-U[" + LONG + ", 1, 20] 0..10000",
              "+U[" + LONG + ", 3, 23] 0..10000",
              "+I[b, 1, 7] 0..10000");
      assertThat(harness.results(14_998)).isEmpty();
      assertThat(results(harness, row("b", 1, 9_999)))
          .containsExactly("-U[b, 1, 7] 0..10000", "+U[b, 2, 8] 0..10000");
      assertThat(harness.batches().get(harness.batches().size() - 1).timestamp()).isEqualTo(9_999);
      assertThat(harness.lateRowsDropped()).isZero();
      assertThat(harness.results(Long.MAX_VALUE)).containsExactly("+I[b, 1, 4] 10000..20000");
    }
  }

  @OutOfMemoryTest
  void rowsAreLateWhenTheLatenessHasPassed() throws Exception {
    try (WindowHarness harness = job(count().as("n")).keepingLateRows().open(device)) {
      assertThat(results(harness, row("a", 1, 0))).isEmpty();
      assertThat(harness.results(14_998)).containsExactly("+I[a, 1] 0..10000");
      assertThat(harness.rowsInState()).isEqualTo(1);
      assertThat(harness.results(14_999)).isEmpty();
      assertThat(harness.rowsInState()).isZero();
      assertThat(results(harness, row("a", 2, 9_999), row("a", 3, 10_000))).isEmpty();
      assertThat(harness.sideRows()).containsExactly(row("a", 2, 9_999));
      assertThat(harness.results(30_000)).containsExactly("+I[a, 1] 10000..20000");
      assertThat(harness.rowsInState()).isZero();
      assertThat(results(harness, row("b", 4, 20_000), row("b", 5, 18_000)))
          .containsExactly("+I[b, 1] 20000..30000");
      assertThat(harness.sideRows()).contains(row("b", 5, 18_000));
      assertThat(harness.results(34_999)).isEmpty();
      assertThat(harness.rowsInState()).isZero();
    }
  }

  // The third attempt is the last; then parts are updated or emitted.
  @OutOfMemoryTest(attempts = 3)
  void lateRowsThatDoNotFitAreAddedInParts() throws Exception {
    try (WindowHarness harness = job(max("v").as("m")).open(device)) {
      harness.watermark(9_999);
      harness.send(0, List.of(row("a", 1, 0), row(LONG, 2, 1), row("a", 3, 2), row("b", 4, 3)));
      List<String> results = harness.takeResults();
      assertThat(results)
          .contains("+I[" + LONG + ", 2] 0..10000", "+I[b, 4] 0..10000")
          .containsAnyOf("+I[a, 3] 0..10000", "+U[a, 3] 0..10000");
    }
  }

  @Test
  void theLastWindowsOfTimeTakeRows() throws Exception {
    TimeWindow tumble = Tumble.over("ts", Duration.ofSeconds(1));
    Job job = new Job(ROWS, List.of("k"), tumble, count()).withAllowedLateness(LATENESS);
    try (WindowHarness harness = job.open(device)) {
      assertThat(results(harness, row("a", 1, Long.MAX_VALUE - 1_000))).isEmpty();
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly("+I[a, 1] 9223372036854774000..9223372036854775000");
      assertThat(results(harness, row("a", 1, Long.MAX_VALUE - 1_000)))
          .containsExactly(
              "-U[a, 1] 9223372036854774000..9223372036854775000",
              "+U[a, 2] 9223372036854774000..9223372036854775000");
    }
  }

  @Test
  void aRowThatChangesNothingEmitsNothing() throws Exception {
    try (WindowHarness harness = job(max("v").as("m")).open(device)) {
      harness.send(0, List.of(row("a", 5, 0)));
      assertThat(harness.results(9_999)).containsExactly("+I[a, 5] 0..10000");
      assertThat(results(harness, row("a", 4, 0), row("a", 5, 0))).isEmpty();
      assertThat(results(harness, row("a", 6, 0)))
          .containsExactly("-U[a, 5] 0..10000", "+U[a, 6] 0..10000");
    }
  }

  @Test
  void lateRowsComeBehindTheRowsBeforeThem() throws Exception {
    Schema schema =
        Schema.of(
            new Field("k", DataType.INT64, false),
            Field.of("x", DataType.FLOAT64),
            new Field("ts", DataType.timestamp(3), false));
    Job job =
        new Job(schema, List.of("k"), TUMBLE, lastValue("x").as("l"), avg("x").as("a"))
            .withAllowedLateness(LATENESS);
    LocalDateTime time = LocalDateTime.ofEpochSecond(1, 0, ZoneOffset.UTC);
    try (WindowHarness harness = job.open(device)) {
      harness.send(0, List.of(List.of(1L, 0.5, time.plusSeconds(1))));
      assertThat(harness.results(9_999)).containsExactly("+I[1, 0.5, 0.5] 0..10000");
      assertThat(results(harness, List.of(1L, 1.5, time)))
          .containsExactly("-U[1, 0.5, 0.5] 0..10000", "+U[1, 1.5, 1.0] 0..10000");
    }
  }

  @OutOfMemoryTest
  void aRestoredWindowUpdatesTheResultsBeforeTheCheckpoint() throws Exception {
    Job job = job(count().as("n"), sum("v").as("s"));
    OperatorSubtaskState state;
    try (WindowHarness harness = job.open(device)) {
      harness.send(0, List.of(row("a", 1, 0), row("b", 2, 10_000)));
      assertThat(harness.results(9_999)).containsExactly("+I[a, 1, 1] 0..10000");
      results(harness, row("a", 2, 0));
      state = harness.snapshot();
      results(harness, row("a", 100, 0));
    }
    try (WindowHarness harness = job.restore(device, state)) {
      assertThat(results(harness, row("a", 4, 0)))
          .containsExactly("-U[a, 2, 3] 0..10000", "+U[a, 3, 7] 0..10000");
      assertThat(harness.results(14_999)).isEmpty();
      assertThat(results(harness, row("a", 8, 0))).isEmpty();
      assertThat(harness.lateRowsDropped()).isEqualTo(1);
      assertThat(harness.results(19_999)).containsExactly("+I[b, 1, 2] 10000..20000");
    }
  }

  @Test
  void windowsThatHaveFiredAreRescaled() throws Exception {
    Job job = job(count().as("n"));
    List<List<Object>> rows = List.of(row("a", 1, 0), row("b", 1, 1), row("c", 1, 2));
    Snapshot snapshot;
    try (WindowSubtasks subtasks = WindowSubtasks.open(device, job, 3, null)) {
      subtasks.send(rows);
      assertThat(subtasks.results(9_999)).hasSize(3);
      snapshot = subtasks.snapshot();
    }
    try (WindowSubtasks subtasks = WindowSubtasks.open(device, job, 2, snapshot)) {
      subtasks.send(rows);
      assertThat(subtasks.results(14_999))
          .containsExactlyInAnyOrder(
              "-U[a, 1] 0..10000",
              "+U[a, 2] 0..10000",
              "-U[b, 1] 0..10000",
              "+U[b, 2] 0..10000",
              "-U[c, 1] 0..10000",
              "+U[c, 2] 0..10000");
    }
  }

  // 8 hours ahead of UTC.
  @Test
  void latenessBeginsAtTheEndOfAWindowOfLocalTime() throws Exception {
    Schema schema =
        Schema.of(
            new Field("k", DataType.INT64, false),
            new Field("ts", DataType.timestamp(3, true), false));
    Job job =
        new Job(schema, List.of("k"), Tumble.over("ts", Duration.ofHours(24)), count().as("n"))
            .withZone(ZoneId.of("Asia/Shanghai"))
            .withAllowedLateness(Duration.ofHours(1));
    Instant end = Instant.parse("2024-06-01T16:00:00Z");
    try (WindowHarness harness = job.open(device)) {
      harness.watermark(end.toEpochMilli() - 1);
      assertThat(results(harness, List.of(1L, end.minusSeconds(1)))).hasSize(1);
      harness.watermark(end.plusSeconds(3_600).toEpochMilli() - 2);
      assertThat(results(harness, List.of(1L, end.minusSeconds(1)))).hasSize(2);
      harness.watermark(end.plusSeconds(3_600).toEpochMilli() - 1);
      assertThat(results(harness, List.of(1L, end.minusSeconds(1)))).isEmpty();
    }
  }

  @Test
  void theResultsAreAChangelog() {
    Schema schema = job(count().as("n")).plan().outputSchema();
    assertThat(RowKindColumn.isIn(schema)).isTrue();
    assertThat(schema.names())
        .containsExactly("k", "n", "window_start", "window_end", "window_time", "$row_kind");
    assertThat(job(count().as("n")).plan().toString())
        .endsWith(", rowtime(w$)], allowedLateness=[5 s])");
  }

  @OutOfMemoryTest
  void lateRowsUpdateTheHoppingWindowsThatHaveFired() throws Exception {
    Job job =
        new Job(ROWS, List.of("k"), HOP, count().as("n"), sum("v").as("s"))
            .withAllowedLateness(LATENESS);
    try (WindowHarness harness = job.open(device)) {
      assertThat(results(harness, row("a", 1, 7_000))).isEmpty();
      assertThat(harness.results(9_998)).isEmpty();
      assertThat(results(harness, row("a", 2, 3_000))).containsExactly("+I[a, 1, 2] -5000..5000");
      assertThat(harness.results(9_999)).containsExactly("+I[a, 2, 3] 0..10000");
      assertThat(results(harness, row(LONG, 4, 3_000), row("a", 8, 6_000)))
          .containsExactly(
              "+I[" + LONG + ", 1, 4] 0..10000", "-U[a, 2, 3] 0..10000", "+U[a, 3, 11] 0..10000");
      assertThat(harness.results(14_999)).containsExactly("+I[a, 2, 9] 5000..15000");
      assertThat(results(harness, row("a", 16, 4_999))).isEmpty();
      assertThat(harness.lateRowsDropped()).isEqualTo(1);
      assertThat(results(harness, row("a", 16, 5_000)))
          .containsExactly("-U[a, 2, 9] 5000..15000", "+U[a, 3, 25] 5000..15000");
      assertThat(harness.results(24_999)).isEmpty();
      assertThat(harness.rowsInState()).isZero();
    }
  }

  @OutOfMemoryTest
  void lateRowsUpdateTheCumulatingWindowsThatHaveFired() throws Exception {
    Job job =
        new Job(ROWS, List.of("k"), CUMULATE, count().as("n"), max("v").as("m"))
            .withAllowedLateness(LATENESS);
    try (WindowHarness harness = job.open(device)) {
      assertThat(results(harness, row("a", 1, 1_000))).isEmpty();
      assertThat(harness.results(4_999)).containsExactly("+I[a, 1, 1] 0..5000");
      assertThat(harness.results(9_998)).isEmpty();
      assertThat(results(harness, row("a", 2, 2_000)))
          .containsExactly("-U[a, 1, 1] 0..5000", "+U[a, 2, 2] 0..5000");
      assertThat(harness.results(9_999)).containsExactly("+I[a, 2, 2] 0..10000");
      assertThat(results(harness, row("a", 3, 2_000), row(LONG, 4, 6_000)))
          .containsExactly(
              "-U[a, 2, 2] 0..10000", "+U[a, 3, 3] 0..10000", "+I[" + LONG + ", 1, 4] 0..10000");
      assertThat(harness.results(14_999))
          .containsExactly("+I[a, 3, 3] 0..15000", "+I[" + LONG + ", 1, 4] 0..15000");
      assertThat(results(harness, row("b", 5, 0))).containsExactly("+I[b, 1, 5] 0..15000");
      assertThat(harness.results(19_999)).isEmpty();
      assertThat(harness.rowsInState()).isZero();
    }
  }

  // Their values are combined in the order of the rows, and do not depend on it.
  @OutOfMemoryTest
  void stringsOfSlicesAreMerged() throws Exception {
    Job job =
        new Job(ROWS, List.of("v"), HOP, min("k"), max("k").as("l")).withAllowedLateness(LATENESS);
    try (WindowHarness harness = job.open(device)) {
      assertThat(results(harness, row("b", 1, 0), row(LONG + "!", 1, 6_000), row(LONG, 2, 5_000)))
          .isEmpty();
      assertThat(harness.results(9_999))
          .containsExactly(
              "+I[1, b, b] -5000..5000",
              "+I[1, " + LONG + "!, b] 0..10000",
              "+I[2, " + LONG + ", " + LONG + "] 0..10000");
      assertThat(results(harness, row(LONG, 1, 7_000), row("c", 2, 8_000)))
          .containsExactly(
              "-U[1, " + LONG + "!, b] 0..10000",
              "+U[1, " + LONG + ", b] 0..10000",
              "-U[2, " + LONG + ", " + LONG + "] 0..10000",
              "+U[2, " + LONG + ", c] 0..10000");
      assertThat(harness.results(14_999))
          .containsExactly(
              "+I[1, " + LONG + ", " + LONG + "!] 5000..15000",
              "+I[2, " + LONG + ", c] 5000..15000");
    }
  }

  @Test
  void latenessThatCannotBeComputedIsRefused() {
    Job hop = new Job(ROWS, List.of("k"), HOP, lastValue("v").as("l"));
    assertThatThrownBy(() -> hop.withAllowedLateness(LATENESS).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            "expected TUMBLE for allowed lateness of aggregates that depend on the order of rows,"
                + " got HOP(time_col=[ts], size=[10 s], slide=[5 s]) of k, LAST_VALUE(`v`) AS l");
    TimeWindow now = Tumble.overProcessingTime(Duration.ofSeconds(10));
    assertThatThrownBy(
            () -> new Job(ROWS, List.of("k"), now, count()).withAllowedLateness(LATENESS).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            "expected TUMBLE, HOP or CUMULATE of event time for allowed lateness, got"
                + " TUMBLE(time_col=[PROCTIME()], size=[10 s])");
  }
}
