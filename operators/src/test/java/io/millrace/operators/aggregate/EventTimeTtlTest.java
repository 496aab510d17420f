// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Group aggregates that forget keys by the watermark. */
@ExtendWith(NothingHeldExtension.class)
class EventTimeTtlTest {
  private static final int TTL = 100;
  private static final Schema ROWS =
      Schema.of(new Field("k", DataType.STRING, false), new Field("n", DataType.INT32, false));
  private static final Job FOREVER =
      new Job(ROWS, List.of("k"), count().as("rows"), sum("n").as("sum"));
  private static final Job BY_CLOCK = FOREVER.withStateTtl(Duration.ofMillis(TTL));
  private static final Job JOB = FOREVER.withStateTtl(StateTtl.ofEventTime(Duration.ofMillis(TTL)));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @OutOfMemoryTest
  void keysWithoutRowsBeginAnewWhenTheWatermarkHasPassed() throws Exception {
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.watermark(1_000);
      assertThat(harness.changes(List.of("a", 1), List.of("b", 2)))
          .containsExactly("+I[a, 1, 1]", "+I[b, 1, 2]");
      harness.setProcessingTime(1_000_000);
      harness.watermark(1_099);
      assertThat(harness.changes(List.of("a", 3))).containsExactly("-U[a, 1, 1]", "+U[a, 2, 4]");
      harness.watermark(1_100);
      assertThat(harness.changes(List.of("b", 5), List.of("a", 0)))
          .containsExactly("+I[b, 1, 5]", "-U[a, 2, 4]", "+U[a, 3, 4]");
    }
  }

  @Test
  void rowsBeforeTheFirstWatermarkCountAsUpdatedAtIt() throws Exception {
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.changes(List.of("a", 1), List.of("b", 2));
      assertThat(harness.changes(List.of("a", 3))).containsExactly("-U[a, 1, 1]", "+U[a, 2, 4]");
      harness.watermark(5_000);
      harness.changes(List.of("c", 1));
      harness.watermark(5_099);
      assertThat(harness.changes(List.of("a", 3))).containsExactly("-U[a, 2, 4]", "+U[a, 3, 7]");
      harness.watermark(5_100);
      assertThat(harness.changes(List.of("b", 3), List.of("c", 1)))
          .containsExactly("+I[b, 1, 3]", "+I[c, 1, 1]");
    }
  }

  @Test
  void watermarksBelowZeroAreTimes() throws Exception {
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.watermark(Long.MIN_VALUE + 1);
      harness.changes(List.of("a", 1));
      harness.watermark(Long.MIN_VALUE + TTL);
      assertThat(harness.changes(List.of("a", 1))).containsExactly("-U[a, 1, 1]", "+U[a, 2, 2]");
      harness.watermark(-TTL);
      assertThat(harness.changes(List.of("a", 1))).containsExactly("+I[a, 1, 1]");
      harness.watermark(0);
      assertThat(harness.changes(List.of("a", 1))).containsExactly("+I[a, 1, 1]");
    }
  }

  @Test
  void theEndOfTheInputIsNoTime() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.watermark(1_000);
      harness.changes(List.of("a", 1));
      harness.watermark(Long.MAX_VALUE);
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      assertThat(harness.changes(List.of("a", 1))).containsExactly("-U[a, 1, 1]", "+U[a, 2, 2]");
      harness.watermark(1_100);
      assertThat(harness.changes(List.of("a", 1))).containsExactly("+I[a, 1, 1]");
    }
  }

  @OutOfMemoryTest
  void aRestoredClockGoesOn() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.changes(List.of("before", 1));
      harness.watermark(1_000);
      harness.changes(List.of("a", 1));
      harness.watermark(1_050);
      harness.changes(List.of("b", 1));
      state = harness.snapshot();
    }
    // Watermarks begin again, before those of the checkpoint.
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      assertThat(harness.changes(List.of("b", 1), List.of("c", 1)))
          .containsExactly("-U[b, 1, 1]", "+U[b, 2, 2]", "+I[c, 1, 1]");
      harness.watermark(900);
      assertThat(harness.changes(List.of("c", 1))).containsExactly("-U[c, 1, 1]", "+U[c, 2, 2]");
      harness.watermark(1_099);
      assertThat(harness.changes(List.of("before", 1)))
          .containsExactly("-U[before, 1, 1]", "+U[before, 2, 2]");
      harness.watermark(1_100);
      assertThat(harness.changes(List.of("a", 1))).containsExactly("+I[a, 1, 1]");
      harness.watermark(1_149);
      assertThat(harness.changes(List.of("b", 1))).containsExactly("-U[b, 2, 2]", "+U[b, 3, 3]");
      harness.watermark(1_150);
      assertThat(harness.changes(List.of("c", 1))).containsExactly("+I[c, 1, 1]");
    }
  }

  @Test
  void noRowExpiresEarlyWhereSubtasksHadOtherWatermarks() throws Exception {
    OperatorSubtaskState[] parts = new OperatorSubtaskState[2];
    String[] keys = new String[2];
    for (int subtask = 0; subtask < 2; subtask++) {
      try (GroupAggregateHarness harness = JOB.restore(device, subtask, 2, null)) {
        // An operator does not check that a key belongs to its subtask.
        keys[subtask] = "key of subtask " + subtask;
        harness.watermark(subtask == 0 ? 1_000 : 1_040);
        harness.changes(List.of(keys[subtask], 1));
        parts[subtask] = harness.snapshot();
      }
    }
    OperatorSubtaskState state =
        AbstractStreamOperatorTestHarness.repartitionOperatorState(
            AbstractStreamOperatorTestHarness.repackageState(parts),
            GroupAggregateHarness.MAX_PARALLELISM,
            2,
            1,
            0);
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      harness.watermark(1_099);
      assertThat(harness.rowsInState()).isEqualTo(2);
      assertThat(harness.changes(List.of(keys[0], 0)).get(0)).startsWith("-U");
      harness.watermark(1_139);
      assertThat(harness.changes(List.of(keys[1], 0)).get(0)).startsWith("-U");
      harness.watermark(1_199);
      assertThat(harness.changes(List.of(keys[0], 0)).get(0)).startsWith("+I");
    }
  }

  @Test
  void stateOfTheOtherDomainIsRefused() throws Exception {
    OperatorSubtaskState byClock;
    try (GroupAggregateHarness harness = BY_CLOCK.open(device)) {
      harness.changes(List.of("a", 1));
      byClock = harness.snapshot();
    }
    OperatorSubtaskState byWatermark;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.changes(List.of("a", 1));
      byWatermark = harness.snapshot();
    }
    assertThatThrownBy(() -> JOB.restore(device, byClock))
        .hasMessage(
            "the checkpoint has state with a stateTtl of PROCESSING_TIME, and the job has a"
                + " stateTtl of EVENT_TIME");
    assertThatThrownBy(() -> BY_CLOCK.restore(device, byWatermark))
        .hasMessage(
            "the checkpoint has state with a stateTtl of EVENT_TIME, and the job has a stateTtl of"
                + " PROCESSING_TIME");
    try (GroupAggregateHarness harness = FOREVER.restore(device, byWatermark)) {
      harness.watermark(1_000_000);
      assertThat(harness.changes(List.of("a", 3))).containsExactly("-U[a, 1, 1]", "+U[a, 2, 4]");
    }
  }

  @Test
  void rowsWithoutTimesAreAsIfWrittenAtTheFirstWatermark() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = FOREVER.open(device)) {
      harness.watermark(1_000);
      harness.changes(List.of("a", 1), List.of("b", 2));
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      harness.watermark(5_000);
      harness.watermark(5_099);
      assertThat(harness.changes(List.of("a", 3))).containsExactly("-U[a, 1, 1]", "+U[a, 2, 4]");
      harness.watermark(5_100);
      assertThat(harness.changes(List.of("b", 3))).containsExactly("+I[b, 1, 3]");
    }
  }

  @Test
  void aJobWithoutTimeToLiveForgetsTheClockOfItsCheckpoint() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.watermark(1_000);
      harness.changes(List.of("a", 1), List.of("b", 2));
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = FOREVER.restore(device, state)) {
      harness.watermark(4_999);
      harness.changes(List.of("a", 1));
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      harness.watermark(5_000);
      harness.watermark(5_099);
      assertThat(harness.changes(List.of("a", 3))).containsExactly("-U[a, 2, 2]", "+U[a, 3, 5]");
      harness.watermark(5_100);
      assertThat(harness.changes(List.of("b", 3))).containsExactly("+I[b, 1, 3]");
    }
  }

  @OutOfMemoryTest
  void expiredRowsAreRemovedByWatermarksAlone() throws Exception {
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.watermark(1_000);
      for (int batch = 0; batch < 10; batch++) {
        harness.changes(rows(batch * 100, batch * 100 + 100).toArray(List[]::new));
      }
      harness.watermark(1_050);
      harness.changes(rows(0, 100).toArray(List[]::new));
      assertThat(harness.expiredRows()).isZero();
      for (int time = 1_100; harness.rowsInState() > 100; time++) {
        assertThat(time).isLessThan(1_150);
        harness.watermark(time);
      }
      assertThat(harness.expiredRows()).isEqualTo(900);
      assertThat(harness.changes(List.of(key(9), 1), List.of(key(500), 2)))
          .containsExactly(
              "-U[" + key(9) + ", 2, 18]",
              "+U[" + key(9) + ", 3, 19]",
              "+I[" + key(500) + ", 1, 2]");
    }
  }

  @Test
  void watermarksDoNotSweepAStateWithoutRows() throws Exception {
    try (GroupAggregateHarness harness = JOB.open(device)) {
      for (int time = 0; time < 10 * TTL; time += TTL / 10) {
        harness.watermark(time);
      }
      assertThat(harness.tablesInState()).isZero();
    }
  }

  private static List<List<?>> rows(int first, int end) {
    return IntStream.range(first, end).<List<?>>mapToObj(n -> List.of(key(n), n)).toList();
  }

  private static String key(int number) {
    return number % 2 == 0 ? "k" + number : "a longer key, number " + number;
  }

  /** The rows of a key since it began, and the watermark at the last of them. */
  private record Values(long time, long count, long sum) {}

  /** What a checkpoint has. */
  private record Saved(
      OperatorSubtaskState state, Map<String, Values> keys, long watermark, long first) {}

  @Test
  void randomWatermarksAndRestores() throws Exception {
    Random numbers = random.random();
    Map<String, Values> keys = new HashMap<>();
    long watermark = Long.MIN_VALUE;
    long first = Long.MIN_VALUE;
    Saved saved = null;
    long removed = 0;
    GroupAggregateHarness harness = JOB.open(device);
    try {
      for (int step = 0; step < 600; step++) {
        int choice = numbers.nextInt(20);
        if (choice == 0) {
          saved = new Saved(harness.snapshot(), new HashMap<>(keys), watermark, first);
        } else if (choice == 1 && saved != null) {
          removed += harness.expiredRows();
          harness.close();
          harness = JOB.restore(device, saved.state());
          keys = new HashMap<>(saved.keys());
          watermark = saved.watermark();
          first = saved.first();
        } else if (choice < 8 && step > 20) {
          // Behind a restore they begin before that of the checkpoint.
          long next = step * 8L - 500 + numbers.nextInt(60);
          harness.watermark(next);
          first = watermark == Long.MIN_VALUE ? next : first;
          watermark = Math.max(watermark, next);
        } else {
          checkBatch(harness, keys, watermark, first, numbers);
        }
      }
      assertThat(removed + harness.expiredRows()).isPositive();
    } finally {
      harness.close();
    }
  }

  private static void checkBatch(
      GroupAggregateHarness harness,
      Map<String, Values> keys,
      long watermark,
      long first,
      Random numbers)
      throws Exception {
    List<List<?>> rows = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    int from = numbers.nextInt(300);
    for (int n = from; n < from + 1 + numbers.nextInt(30); n++) {
      String key = key(n);
      rows.add(List.of(key, n));
      Values before = keys.get(key);
      boolean isForgotten =
          before == null
              || (watermark != Long.MIN_VALUE && Math.max(before.time, first) + TTL <= watermark);
      Values after =
          isForgotten
              ? new Values(watermark, 1, n)
              : new Values(watermark, before.count + 1, before.sum + n);
      if (!isForgotten) {
        expected.add("-U[" + key + ", " + before.count + ", " + before.sum + "]");
      }
      expected.add(
          (isForgotten ? "+I[" : "+U[") + key + ", " + after.count + ", " + after.sum + "]");
      keys.put(key, after);
    }
    assertThat(harness.changes(rows.toArray(List[]::new))).isEqualTo(expected);
  }
}
