// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static io.millrace.operators.aggregate.Aggregate.listAgg;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.window.WindowHarness.Job;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** LISTAGG in windows: the order of arrival within a slice, then the order of slices. */
@ExtendWith(NothingHeldExtension.class)
class ListAggWindowTest {
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT64, false),
          Field.of("s", DataType.STRING),
          new Field("ts", DataType.timestamp(3), false));
  private static final Duration TEN_SECONDS = Duration.ofSeconds(10);
  private static final Duration FIVE_SECONDS = Duration.ofSeconds(5);
  private static final String LONG = "a string of more than 12 bytes";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static Job job(TimeWindow window) {
    return new Job(ROWS, List.of("k"), window, listAgg("s", "; ").as("l"));
  }

  private static List<Object> row(long key, String text, long millis) {
    LocalDateTime time =
        LocalDateTime.ofEpochSecond(
            millis / 1_000, (int) (millis % 1_000) * 1_000_000, ZoneOffset.UTC);
    return Arrays.asList(key, text, time);
  }

  @OutOfMemoryTest
  void tumblingWindows() throws Exception {
    try (WindowHarness harness = job(Tumble.over("ts", TEN_SECONDS)).open(device)) {
      harness.send(0, List.of(row(1, "b", 5_000), row(2, null, 1_000), row(1, "a", 4_000)));
      harness.send(0, List.of(row(1, LONG, 9_999), row(1, LONG, 10_000), row(1, null, 1)));
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly(
              "[1, b; a; " + LONG + "] 0..10000",
              "[2, null] 0..10000",
              "[1, " + LONG + "] 10000..20000");
    }
  }

  @OutOfMemoryTest
  void lateRowsOfTumblingWindowsStandBehind() throws Exception {
    Job job = job(Tumble.over("ts", TEN_SECONDS)).withAllowedLateness(TEN_SECONDS);
    try (WindowHarness harness = job.open(device)) {
      harness.send(0, List.of(row(1, LONG, 5_000)));
      assertThat(harness.results(9_999)).containsExactly("+I[1, " + LONG + "] 0..10000");
      harness.send(0, List.of(row(1, "a", 4_000), row(1, LONG, 10_000)));
      assertThat(harness.results(10_000))
          .containsExactly("-U[1, " + LONG + "] 0..10000", "+U[1, " + LONG + "; a] 0..10000");
    }
  }

  @OutOfMemoryTest
  void windowsOfSeveralSlices() throws Exception {
    List<List<Object>> rows =
        List.of(row(1, "c", 11_000), row(1, LONG, 6_000), row(1, "a", 1_000), row(1, "d", 12_000));
    try (WindowHarness harness =
        job(Hop.over("ts", TEN_SECONDS).every(FIVE_SECONDS)).open(device)) {
      harness.send(0, rows);
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly(
              "[1, a] -5000..5000",
              "[1, a; " + LONG + "] 0..10000",
              "[1, " + LONG + "; c; d] 5000..15000",
              "[1, c; d] 10000..20000");
    }
    try (WindowHarness harness =
        job(Cumulate.over("ts", TEN_SECONDS).every(FIVE_SECONDS)).open(device)) {
      harness.send(0, rows);
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly(
              "[1, a] 0..5000",
              "[1, a; " + LONG + "] 0..10000",
              "[1, c; d] 10000..15000",
              "[1, c; d] 10000..20000");
    }
  }

  @OutOfMemoryTest
  void sessions() throws Exception {
    try (WindowHarness harness = job(Session.over("ts", TEN_SECONDS)).open(device)) {
      harness.send(0, List.of(row(1, "a", 1_000), row(2, LONG, 1_000), row(1, LONG, 9_000)));
      harness.send(0, List.of(row(1, "b", 18_000), row(2, "x", 20_000)));
      assertThat(harness.results(12_000)).containsExactly("[2, " + LONG + "] 1000..11000");
      harness.send(0, List.of(row(1, "c", 19_000)));
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly("[1, a; " + LONG + "; b; c] 1000..29000", "[2, x] 20000..30000");
    }
  }

  @Test
  void earlyFiringIsRefused() {
    assertThatThrownBy(
            () -> job(Tumble.over("ts", TEN_SECONDS)).withEarlyFiring(FIVE_SECONDS).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            "expected aggregates for early firing that do not depend on the order of rows, nor"
                + " compare values of more than 8 bytes, got k, LISTAGG(`s`, '; ') AS l");
  }
}
