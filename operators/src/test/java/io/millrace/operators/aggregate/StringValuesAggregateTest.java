// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.firstValue;
import static io.millrace.operators.aggregate.Aggregate.lastValue;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.aggregate.GroupAggregateSubtasks.Snapshot;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Aggregates whose value is a string, or another value of two words. */
@ExtendWith(NothingHeldExtension.class)
class StringValuesAggregateTest {
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT32, false),
          Field.of("s", DataType.STRING),
          new Field("n", DataType.INT64, false));
  private static final Schema WIDE =
      Schema.of(
          new Field("k", DataType.INT32, false),
          Field.of("d", DataType.decimal(38, 1)),
          Field.of("t", DataType.timestamp(9, false)),
          Field.of("b", DataType.BOOL));
  private static final List<String> KEYS = List.of("k");
  private static final Job EXTREMES = new Job(ROWS, KEYS, min("s"), max("s"));
  private static final String LONG = "thirteen, and a few more";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @OutOfMemoryTest
  void extremesAreThoseOfTheBytes() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = EXTREMES.open(device)) {
      assertThat(
              harness.changes(
                  asList(1, null, 0L), asList(2, "b", 0L), asList(2, LONG, 0L), asList(2, "", 0L)))
          .containsExactly("+I[1, null, null]", "+I[2, , " + LONG + "]");
      assertThat(
              harness.changes(
                  asList(1, LONG + "!", 0L),
                  asList(2, LONG, 0L),
                  asList(3, "\u00e4", 0L),
                  asList(1, LONG, 0L),
                  asList(3, "z", 0L)))
          .containsExactly(
              "-U[1, null, null]",
              "+U[1, " + LONG + ", " + LONG + "!]",
              "-U[2, , " + LONG + "]",
              "+U[2, , " + LONG + "]",
              "+I[3, z, \u00e4]");
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = EXTREMES.restore(device, state)) {
      assertThat(
              harness.changes(asList(1, LONG + "\"", 0L), asList(1, "a", 0L), asList(3, "zz", 0L)))
          .containsExactly(
              "-U[1, " + LONG + ", " + LONG + "!]",
              "+U[1, a, " + LONG + "\"]",
              "-U[3, z, \u00e4]",
              "+U[3, z, \u00e4]");
    }
  }

  @OutOfMemoryTest
  void firstAndLastStringsAreThoseInTheOrderOfRows() throws Exception {
    Job job = new Job(ROWS, KEYS, firstValue("s"), lastValue("s").filter(col("n").gt(0L)));
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = job.open(device)) {
      assertThat(harness.changes(asList(1, null, 1L), asList(1, LONG, 0L), asList(1, "b", 1L)))
          .containsExactly("+I[1, " + LONG + ", b]");
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = job.restore(device, state)) {
      assertThat(harness.changes(asList(1, "c", 0L), asList(1, LONG + "?", 2L)))
          .containsExactly("-U[1, " + LONG + ", b]", "+U[1, " + LONG + ", " + LONG + "?]");
    }
  }

  @OutOfMemoryTest
  void decimalsAndTimesMayHaveTwoWords() throws Exception {
    Job job = new Job(WIDE, KEYS, min("d"), max("d"), max("t"), firstValue("t"), max("b"));
    BigDecimal large = new BigDecimal("1234567890123456789012345678901234567.8");
    LocalDateTime time = LocalDateTime.of(1969, 12, 31, 23, 59, 59, 999_999_999);
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = job.open(device)) {
      assertThat(
              harness.changes(
                  asList(1, large, time, false),
                  asList(1, large.negate(), time.plusNanos(1), null),
                  asList(2, null, null, null)))
          .containsExactly(
              "+I[1, -" + large + ", " + large + ", 1970-01-01T00:00, " + time + ", false]",
              "+I[2, null, null, null, null, null]");
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = job.restore(device, state)) {
      BigDecimal larger = large.add(new BigDecimal("0.1"));
      assertThat(harness.changes(asList(1, larger, time.plusNanos(2), true)))
          .containsExactly(
              "-U[1, -" + large + ", " + large + ", 1970-01-01T00:00, " + time + ", false]",
              "+U[1, -"
                  + large
                  + ", "
                  + larger
                  + ", 1970-01-01T00:00:00.000000001, "
                  + time
                  + ", true]");
    }
  }

  // Such as a year of maxima: what is replaced is given up.
  @OutOfMemoryTest
  void replacedStringsAreGivenUp() throws Exception {
    Job job = new Job(ROWS, KEYS, lastValue("s"), count());
    try (GroupAggregateHarness harness = job.open(device)) {
      for (int batch = 0; batch < 5; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int key = 0; key < 50; key++) {
          rows.add(asList(key, "x".repeat(400) + batch, 0L));
        }
        harness.send(0, rows);
        harness.takeRows();
      }
      assertThat(harness.changes(asList(7, "end", 0L)))
          .containsExactly("-U[7, " + "x".repeat(400) + "4, 5]", "+U[7, end, 6]");
    }
  }

  private static List<List<Object>> batch(int number) {
    List<List<Object>> rows = new ArrayList<>();
    for (int row = 0; row < 5_000; row++) {
      int key = row % 4 > 0 ? number * 5_000 + row : row % 500;
      String text = row % 7 == 0 ? null : "text " + (row * 7919 + number * 104_729) % 5_003;
      rows.add(asList(key, text == null ? null : text + "!".repeat(key % 90), (long) row));
    }
    return rows;
  }

  private Snapshot run(Job job, int... parallelisms) throws Exception {
    Snapshot snapshot = null;
    int number = 0;
    for (int parallelism : parallelisms) {
      try (GroupAggregateSubtasks subtasks =
          snapshot == null
              ? GroupAggregateSubtasks.open(device, job, parallelism)
              : GroupAggregateSubtasks.restore(device, job, snapshot, parallelism)) {
        for (int i = 0; i < 6; i++) {
          subtasks.send(batch(number++));
        }
        assertThat(DeviceContext.spilledBytes(Device.current()) > 0)
            .as("whether state is spilled")
            .isEqualTo(!job.options().isEmpty());
        snapshot = subtasks.snapshot();
        subtasks.send(batch(number));
      }
    }
    return snapshot;
  }

  @Test
  void stringsAreRescaledAndSpilled() throws Exception {
    Map<String, String> diskOnly =
        Map.of("millrace.spill.device-limit", "6 mb", "millrace.spill.host-limit", "0 b");
    Map<List<Object>, List<Object>> results = run(EXTREMES, 1, 1, 1).results();
    assertThat(run(EXTREMES, 3, 1, 2).results()).isEqualTo(results);
    assertThat(run(EXTREMES.withOptions(diskOnly), 3, 1, 2).results()).isEqualTo(results);
  }

  @Test
  void aggregatesMayBeAddedAndRemovedAroundStrings() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness =
        EXTREMES.withAggregates(max("s"), max("n"), min("s")).open(device)) {
      harness.changes(asList(1, LONG + "1", 5L), asList(1, LONG + "0", 6L));
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness =
        EXTREMES.withAggregates(min("s"), max("n")).restore(device, state)) {
      assertThat(harness.changes(asList(1, "a", 4L)))
          .containsExactly("-U[1, " + LONG + "0, 6]", "+U[1, a, 6]");
    }
  }

  @Test
  void argumentsMayBeComputedStrings() throws Exception {
    Job job = new Job(WIDE, KEYS, max(call("DATE_FORMAT", col("t"), lit("HH:mm"))).as("latest"));
    try (GroupAggregateHarness harness = job.open(device)) {
      LocalDateTime noon = LocalDateTime.of(2024, 5, 6, 12, 0);
      assertThat(
              harness.changes(
                  asList(1, null, noon, null), asList(1, null, noon.minusMinutes(61), null)))
          .containsExactly("+I[1, 12:00]");
      assertThat(harness.changes(asList(1, null, noon.plusMinutes(7), null)))
          .containsExactly("-U[1, 12:00]", "+U[1, 12:07]");
    }
  }

  @Test
  void keysThatExpireBeginAgain() throws Exception {
    try (GroupAggregateHarness harness =
        EXTREMES.withStateTtl(Duration.ofMillis(100)).open(device)) {
      harness.setProcessingTime(1_000);
      assertThat(harness.changes(asList(1, LONG, 0L), asList(2, "x", 0L)))
          .containsExactly("+I[1, " + LONG + ", " + LONG + "]", "+I[2, x, x]");
      harness.setProcessingTime(1_200);
      assertThat(harness.changes(asList(1, null, 0L))).containsExactly("+I[1, null, null]");
      harness.setProcessingTime(1_250);
      assertThat(harness.changes(asList(1, "ab", 0L)))
          .containsExactly("-U[1, null, null]", "+U[1, ab, ab]");
    }
  }

  @Test
  void whatIsNotSupportedIsRefused() {
    Schema bytes = Schema.of(new Field("k", DataType.INT32, false), Field.of("b", DataType.BINARY));
    assertThatThrownBy(() -> new Job(bytes, KEYS, max("b")).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage("MAX(`b`) is not supported: its argument is " + DataType.BINARY);
  }
}
