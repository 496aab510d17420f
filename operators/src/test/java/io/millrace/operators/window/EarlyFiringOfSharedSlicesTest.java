// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.window.WindowHarness.Job;
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

/** Windows that share slices and emit results before they end. */
@ExtendWith(NothingHeldExtension.class)
class EarlyFiringOfSharedSlicesTest {
  private static final Schema ROWS =
      Schema.of(
          Field.of("k", DataType.STRING),
          new Field("v", DataType.INT32, false),
          new Field("ts", DataType.timestamp(3), false));
  private static final TimeWindow HOP =
      Hop.over("ts", Duration.ofSeconds(10)).every(Duration.ofSeconds(5));
  private static final TimeWindow CUMULATE =
      Cumulate.over("ts", Duration.ofSeconds(15)).every(Duration.ofSeconds(5));
  private static final String LONG = "a key of more than 12 bytes";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static Job jobOf(TimeWindow window, Aggregate... aggregates) {
    return new Job(ROWS, List.of("k"), window, aggregates).withEarlyFiring(Duration.ofMillis(100));
  }

  private static List<Object> row(String key, int value, long millis) {
    return List.of(
        key, value, LocalDateTime.ofInstant(Instant.ofEpochMilli(millis), ZoneOffset.UTC));
  }

  @OutOfMemoryTest
  void eachWindowOfARowEmitsItsChanges() throws Exception {
    try (WindowHarness harness = jobOf(HOP, count().as("n"), sum("v").as("s")).open(device)) {
      harness.setProcessingTime(0);
      harness.send(0, List.of(row("a", 1, 0), row(LONG, 2, 6_000)));
      assertThat(harness.resultsAt(100))
          .containsExactly(
              "+I[a, 1, 1] -5000..5000",
              "+I[a, 1, 1] 0..10000",
              "+I[" + LONG + ", 1, 2] 0..10000",
              "+I[" + LONG + ", 1, 2] 5000..15000");
      // Both slices of a window: one update.
      harness.send(0, List.of(row("a", 10, 1), row("a", 20, 5_001), row("b", 3, 5_002)));
      assertThat(harness.resultsAt(200))
          .containsExactly(
              "-U[a, 1, 1] -5000..5000",
              "+U[a, 2, 11] -5000..5000",
              "-U[a, 1, 1] 0..10000",
              "+U[a, 3, 31] 0..10000",
              "+I[b, 1, 3] 0..10000",
              "+I[a, 1, 20] 5000..15000",
              "+I[b, 1, 3] 5000..15000");
      assertThat(harness.results(4_999)).isEmpty();
      harness.send(0, List.of(row(LONG, 5, 2)));
      assertThat(harness.results(9_999))
          .containsExactly("-U[" + LONG + ", 1, 2] 0..10000", "+U[" + LONG + ", 2, 7] 0..10000");
      assertThat(harness.rowsInState()).isEqualTo(3);
      assertThat(harness.results(14_999)).isEmpty();
      assertThat(harness.rowsInState()).isZero();
    }
  }

  @OutOfMemoryTest
  void windowsOfOneStartEmitTheirChanges() throws Exception {
    try (WindowHarness harness = jobOf(CUMULATE, count().as("n"), max("v").as("m")).open(device)) {
      harness.setProcessingTime(0);
      harness.send(0, List.of(row("a", 1, 0)));
      assertThat(harness.resultsAt(100))
          .containsExactly("+I[a, 1, 1] 0..5000", "+I[a, 1, 1] 0..10000", "+I[a, 1, 1] 0..15000");
      harness.send(0, List.of(row("a", 2, 5_000), row("a", 3, 1)));
      // The windows that go on emit at their time.
      assertThat(harness.results(4_999))
          .containsExactly("-U[a, 1, 1] 0..5000", "+U[a, 2, 3] 0..5000");
      harness.send(0, List.of(row("a", 4, 2)));
      assertThat(harness.takeResults()).isEmpty();
      harness.send(0, List.of(row("a", 4, 5_002)));
      assertThat(harness.resultsAt(200))
          .containsExactly(
              "-U[a, 1, 1] 0..10000",
              "+U[a, 5, 4] 0..10000",
              "-U[a, 1, 1] 0..15000",
              "+U[a, 5, 4] 0..15000");
      assertThat(harness.results(9_999)).isEmpty();
      assertThat(harness.results(14_999)).isEmpty();
      assertThat(harness.rowsInState()).isZero();
    }
  }

  @Test
  void theLastWindowsOfTimeEmitTheirChanges() throws Exception {
    try (WindowHarness harness = jobOf(HOP, count().as("n")).open(device)) {
      harness.setProcessingTime(0);
      harness.send(0, List.of(row("a", 1, Long.MAX_VALUE - 7_000)));
      assertThat(harness.resultsAt(100))
          .containsExactly(
              "+I[a, 1] 9223372036854760000..9223372036854770000",
              "+I[a, 1] 9223372036854765000..9223372036854775000");
      // A window of the row ends behind all times.
      harness.send(0, List.of(row("a", 1, Long.MAX_VALUE - 1_000)));
      harness.resultsAt(200);
      harness.results(Long.MAX_VALUE);
      assertThat(harness.rowsInState()).isZero();
    }
  }

  // The third attempt is the last; then rows are added, combined or emitted in parts.
  @OutOfMemoryTest(attempts = 3)
  void rowsOfSeveralWindowsThatDoNotFitAreProcessedInParts() throws Exception {
    try (WindowHarness harness = jobOf(HOP, count().as("n")).open(device)) {
      harness.setProcessingTime(0);
      harness.send(0, List.of(row("a", 1, 5_000), row(LONG, 2, 5_001), row("a", 3, 5_002)));
      assertThat(harness.resultsAt(100))
          .contains("+I[" + LONG + ", 1] 0..10000", "+I[" + LONG + ", 1] 5000..15000")
          .containsAnyOf("+I[a, 2] 0..10000", "+U[a, 2] 0..10000");
    }
  }

  @OutOfMemoryTest
  void rowsBehindTheEndOfAWindowUpdateTheOthersToo() throws Exception {
    Job job =
        jobOf(HOP, count().as("n")).withAllowedLateness(Duration.ofSeconds(3)).keepingLateRows();
    try (WindowHarness harness = job.open(device)) {
      harness.setProcessingTime(0);
      harness.send(0, List.of(row("a", 1, 0)));
      assertThat(harness.results(4_999))
          .containsExactly("+I[a, 1] -5000..5000", "+I[a, 1] 0..10000");
      harness.send(0, List.of(row("a", 2, 1)));
      assertThat(harness.takeResults())
          .containsExactly(
              "-U[a, 1] -5000..5000",
              "+U[a, 2] -5000..5000",
              "-U[a, 1] 0..10000",
              "+U[a, 2] 0..10000");
      assertThat(harness.results(7_999)).isEmpty();
      harness.send(0, List.of(row("a", 3, 2)));
      assertThat(harness.takeResults()).isEmpty();
      assertThat(harness.resultsAt(100)).containsExactly("-U[a, 2] 0..10000", "+U[a, 3] 0..10000");
      assertThat(harness.results(12_999)).isEmpty();
      harness.send(0, List.of(row("a", 4, 3)));
      assertThat(harness.sideRows()).containsExactly(row("a", 4, 3));
    }
  }

  @OutOfMemoryTest
  void aWindowThatEndsEmitsForItselfAlone() throws Exception {
    try (WindowHarness harness = jobOf(HOP, count().as("n"), sum("v").as("s")).open(device)) {
      harness.setProcessingTime(0);
      harness.send(0, List.of(row("a", 1, 0), row(LONG, 2, 6_000), row("a", 3, 11_000)));
      assertThat(harness.results(4_999)).containsExactly("+I[a, 1, 1] -5000..5000");
      harness.send(0, List.of(row("a", 10, 1)));
      assertThat(harness.results(9_999))
          .containsExactly("+I[a, 2, 11] 0..10000", "+I[" + LONG + ", 1, 2] 0..10000");
      // The windows of the rows of the first slice have all fired.
      assertThat(harness.resultsAt(100))
          .containsExactly(
              "+I[" + LONG + ", 1, 2] 5000..15000",
              "+I[a, 1, 3] 5000..15000",
              "+I[a, 1, 3] 10000..20000");
      harness.send(0, List.of(row(LONG, 20, 12_000)));
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly(
              "-U[" + LONG + ", 1, 2] 5000..15000",
              "+U[" + LONG + ", 2, 22] 5000..15000",
              "+I[" + LONG + ", 1, 20] 10000..20000");
      assertThat(harness.rowsInState()).isZero();
    }
  }

  @OutOfMemoryTest
  void aBatchWithRowsOfSeveralSlicesUpdatesAWindowOnce() throws Exception {
    Job job = jobOf(HOP, count().as("n")).withAllowedLateness(Duration.ofSeconds(20));
    try (WindowHarness harness = job.open(device)) {
      harness.setProcessingTime(0);
      harness.send(0, List.of(row("a", 1, 0)));
      assertThat(harness.results(14_999))
          .containsExactly("+I[a, 1] -5000..5000", "+I[a, 1] 0..10000");
      harness.send(0, List.of(row("a", 1, 5_000), row("a", 1, 1), row("a", 1, 10_000)));
      assertThat(harness.takeResults())
          .containsExactly(
              "-U[a, 1] -5000..5000",
              "+U[a, 2] -5000..5000",
              "-U[a, 1] 0..10000",
              "+U[a, 3] 0..10000",
              "+I[a, 2] 5000..15000",
              "+I[a, 1] 10000..20000");
    }
  }

  @OutOfMemoryTest
  void aCheckpointOfWindowsThatShareSlicesHasWhatWasEmitted() throws Exception {
    for (TimeWindow window : List.of(HOP, CUMULATE)) {
      Job job = jobOf(window, count().as("n"), sum("v").as("s"));
      OperatorSubtaskState state;
      try (WindowHarness harness = job.open(device)) {
        harness.setProcessingTime(0);
        harness.watermark(4_998);
        harness.send(0, List.of(row("a", 1, 1)));
        harness.prepareSnapshot();
        assertThat(harness.takeResults()).contains("+I[a, 1, 1] 0..10000");
        state = harness.snapshot();
        harness.send(0, List.of(row("a", 100, 0)));
      }
      try (WindowHarness harness = job.restore(device, state)) {
        harness.watermark(4_999);
        harness.send(0, List.of(row("a", 2, 5_000)));
        assertThat(harness.results(9_999)).contains("-U[a, 1, 1] 0..10000", "+U[a, 2, 3] 0..10000");
      }
    }
  }
}
