// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.window.WindowHarness.Job;
import io.millrace.operators.window.WindowSubtasks.Snapshot;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Windows by the clock of the machine, which the harness sets. */
@ExtendWith(NothingHeldExtension.class)
class ProcessingTimeWindowTest {
  private static final Schema ROWS =
      Schema.of(new Field("k", DataType.INT64, false), new Field("v", DataType.INT32, false));
  private static final Duration SECOND = Duration.ofSeconds(1);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static Job job(TimeWindow window) {
    return new Job(ROWS, List.of("k"), window, count(), sum("v"));
  }

  @OutOfMemoryTest
  void rowsBelongToTheWindowInWhichTheyArrive() throws Exception {
    try (WindowHarness harness =
        job(Hop.overProcessingTime(SECOND.multipliedBy(2)).every(SECOND)).open(device)) {
      assertThat(harness.resultsAt(500)).isEmpty();
      harness.send(0, List.of(List.of(1L, 1), List.of(2L, 2)));
      assertThat(harness.resultsAt(998)).isEmpty();
      assertThat(harness.resultsAt(999))
          .containsExactly("[1, 1, 1] -1000..1000", "[2, 1, 2] -1000..1000");
      harness.resultsAt(1_200);
      harness.send(0, List.of(List.of(1L, 4)));
      harness.watermark(Long.MAX_VALUE - 1);
      assertThat(harness.last()).isEqualTo(new Watermark(Long.MAX_VALUE - 1));
      assertThat(harness.resultsAt(9_000))
          .containsExactly("[1, 2, 5] 0..2000", "[2, 1, 2] 0..2000", "[1, 1, 4] 1000..3000");
      assertThat(harness.lateRowsDropped()).isZero();
    }
  }

  @Test
  void timeStandsStillWhileTheClockIsBehind() throws Exception {
    try (WindowHarness harness = job(Tumble.overProcessingTime(SECOND)).open(device)) {
      harness.resultsAt(500);
      harness.send(0, List.of(List.of(1L, 1)));
      assertThat(harness.resultsAt(1_700)).containsExactly("[1, 1, 1] 0..1000");
      harness.resultsAt(200);
      harness.send(0, List.of(List.of(1L, 2)));
      assertThat(harness.resultsAt(999)).isEmpty();
      assertThat(harness.resultsAt(1_999)).containsExactly("[1, 1, 2] 1000..2000");
    }
  }

  @OutOfMemoryTest
  void restoredWindowsFireByTheClock() throws Exception {
    Job job = job(Cumulate.overProcessingTime(SECOND.multipliedBy(3)).every(SECOND));
    OperatorSubtaskState state;
    try (WindowHarness harness = job.open(device)) {
      harness.resultsAt(100);
      harness.send(0, List.of(List.of(1L, 1)));
      assertThat(harness.resultsAt(1_000)).containsExactly("[1, 1, 1] 0..1000");
      harness.send(0, List.of(List.of(2L, 2)));
      state = harness.snapshot();
    }
    try (WindowHarness harness = job.restore(device, state)) {
      assertThat(harness.resultsAt(2_500))
          .containsExactly("[1, 1, 1] 0..2000", "[2, 1, 2] 0..2000");
      harness.send(0, List.of(List.of(1L, 4)));
      assertThat(harness.resultsAt(3_000))
          .containsExactly("[1, 2, 5] 0..3000", "[2, 1, 2] 0..3000");
      assertThat(harness.resultsAt(100_000)).isEmpty();
    }
  }

  @Test
  void windowsThatFiredDoNotFireAgainWhereASubtaskHadNoRows() throws Exception {
    Job job = job(Hop.overProcessingTime(SECOND.multipliedBy(2)).every(SECOND));
    Snapshot snapshot;
    try (WindowSubtasks subtasks = WindowSubtasks.open(device, job, 2, null)) {
      subtasks.resultsAt(500);
      subtasks.send(List.of(List.of(1L, 1)));
      assertThat(subtasks.resultsAt(1_500)).containsExactly("[1, 1, 1] -1000..1000");
      subtasks.send(List.of(List.of(1L, 2)));
      assertThat(subtasks.resultsAt(2_500)).containsExactly("[1, 2, 3] 0..2000");
      snapshot = subtasks.snapshot();
    }
    for (int parallelism = 1; parallelism <= 3; parallelism++) {
      try (WindowSubtasks subtasks = WindowSubtasks.open(device, job, parallelism, snapshot)) {
        assertThat(subtasks.resultsAt(2_600)).isEmpty();
        subtasks.send(List.of(List.of(1L, 4)));
        assertThat(subtasks.resultsAt(9_000))
            .containsExactly("[1, 2, 6] 1000..3000", "[1, 1, 4] 2000..4000");
      }
    }
  }

  @OutOfMemoryTest
  void windowsThatAreDueFireBeforeABarrier() throws Exception {
    Job job = job(Cumulate.overProcessingTime(SECOND.multipliedBy(2)).every(SECOND));
    OperatorSubtaskState state;
    try (WindowHarness harness = job.open(device)) {
      harness.resultsAt(500);
      harness.send(0, List.of(List.of(1L, 1)));
      harness.prepareSnapshot();
      state = harness.snapshot();
    }
    try (WindowHarness harness = job.restoreAt(1_500, device, state)) {
      // The timer is due, and has not run.
      assertThat(harness.takeResults()).isEmpty();
      harness.prepareSnapshot();
      assertThat(harness.takeResults()).containsExactly("[1, 1, 1] 0..1000");
      state = harness.snapshot();
    }
    try (WindowHarness harness = job.restore(device, state)) {
      assertThat(harness.resultsAt(1_600)).isEmpty();
      assertThat(harness.resultsAt(2_000)).containsExactly("[1, 1, 1] 0..2000");
    }
  }

  @Test
  void noWindowFiresBehindTheEndOfTheInput() throws Exception {
    Job job = job(Tumble.overProcessingTime(SECOND));
    OperatorSubtaskState state;
    try (WindowHarness harness = job.open(device)) {
      harness.resultsAt(500);
      harness.send(0, List.of(List.of(1L, 1)));
      harness.endInput();
      assertThat(harness.resultsAt(1_500)).isEmpty();
      harness.prepareSnapshot();
      assertThat(harness.takeResults()).isEmpty();
      state = harness.snapshot();
    }
    try (WindowHarness harness = job.restore(device, state)) {
      assertThat(harness.resultsAt(1_600)).containsExactly("[1, 1, 1] 0..1000");
    }
  }

  @Test
  void windowsThatAreDueFireAtTheEndOfTheInput() throws Exception {
    Job job = job(Tumble.overProcessingTime(SECOND));
    OperatorSubtaskState state;
    try (WindowHarness harness = job.open(device)) {
      harness.resultsAt(500);
      harness.send(0, List.of(List.of(1L, 1)));
      state = harness.snapshot();
    }
    try (WindowHarness harness = job.restoreAt(1_500, device, state)) {
      harness.endInput();
      assertThat(harness.takeResults()).containsExactly("[1, 1, 1] 0..1000");
    }
  }

  @Test
  void timeStandsStillBetweenBatchesToo() throws Exception {
    try (WindowHarness harness = job(Tumble.overProcessingTime(SECOND)).open(device)) {
      harness.resultsAt(1_500);
      harness.send(0, List.of(List.of(1L, 1)));
      harness.resultsAt(200);
      harness.send(0, List.of(List.of(1L, 2)));
      assertThat(harness.resultsAt(2_000)).containsExactly("[1, 2, 3] 1000..2000");
    }
  }

  @Test
  void windowsAreInTheSessionsZone() throws Exception {
    Job job = job(Tumble.overProcessingTime(Duration.ofHours(24)));
    long midnight = Instant.parse("2024-05-31T16:00:00Z").toEpochMilli();
    try (WindowHarness harness = job.withZone(ZoneId.of("Asia/Shanghai")).open(device)) {
      harness.resultsAt(midnight);
      harness.send(0, List.of(List.of(1L, 1)));
      harness.resultsAt(midnight + Duration.ofHours(24).toMillis());
      assertThat(harness.rows())
          .containsExactly(
              List.of(
                  1L,
                  1L,
                  1,
                  LocalDateTime.of(2024, 6, 1, 0, 0),
                  LocalDateTime.of(2024, 6, 2, 0, 0),
                  Instant.parse("2024-06-01T15:59:59.999Z")));
    }
  }

  static Stream<Arguments> windows() {
    return Stream.of(
        Arguments.of(Tumble.overProcessingTime(SECOND), new WindowModel(1_000, 1_000, false)),
        Arguments.of(
            Hop.overProcessingTime(SECOND.multipliedBy(3)).every(SECOND),
            new WindowModel(3_000, 1_000, false)),
        Arguments.of(
            Cumulate.overProcessingTime(SECOND.multipliedBy(4)).every(SECOND),
            new WindowModel(4_000, 1_000, true)));
  }

  @OutOfMemoryTest
  void windowsThatEndBetweenTheBarriersOfTwoSubtasksFireOnce() throws Exception {
    Job job = job(Hop.overProcessingTime(SECOND.multipliedBy(2)).every(SECOND));
    List<List<Object>> rows = List.of(List.of(1L, 1), List.of(2L, 2), List.of(3L, 3));
    for (int parallelism = 1; parallelism <= 3; parallelism++) {
      List<String> results = new ArrayList<>();
      Snapshot snapshot;
      try (WindowSubtasks subtasks = WindowSubtasks.open(device, job, 2, null)) {
        subtasks.resultsAt(500);
        subtasks.send(rows);
        snapshot = subtasks.snapshotAt(new long[] {900, 1_100}, results);
      }
      assertThat(results).hasSizeBetween(1, 2);
      try (WindowSubtasks subtasks = WindowSubtasks.open(device, job, parallelism, snapshot)) {
        results.addAll(subtasks.resultsAt(1_100));
        assertThat(results)
            .containsExactlyInAnyOrder(
                "[1, 1, 1] -1000..1000", "[2, 1, 2] -1000..1000", "[3, 1, 3] -1000..1000");
        subtasks.send(rows);
        assertThat(subtasks.resultsAt(2_100))
            .containsExactlyInAnyOrder(
                "[1, 2, 2] 0..2000", "[2, 2, 4] 0..2000", "[3, 2, 6] 0..2000");
      }
    }
  }

  @ParameterizedTest
  @MethodSource("windows")
  void eachKeyFiresEachWindowOnceWhateverTheBarriersAre(TimeWindow window, WindowModel model)
      throws Exception {
    Random numbers = random.random();
    Snapshot snapshot = null;
    List<String> results = new ArrayList<>();
    long now = 1;
    for (int restart = 0; restart < 12; restart++) {
      int parallelism = 1 + numbers.nextInt(4);
      try (WindowSubtasks subtasks =
          WindowSubtasks.open(device, job(window), parallelism, snapshot)) {
        for (int step = 0; step < 3; step++) {
          results.addAll(subtasks.resultsAt(now));
          assertThat(results)
              .as("at %d, with %d subtasks", now, parallelism)
              .containsExactlyInAnyOrderElementsOf(model.results(now));
          results.clear();
          List<List<Object>> rows = new ArrayList<>();
          for (long key = 0; key < 12; key += 1 + numbers.nextInt(3)) {
            rows.add(List.of(key, step));
            model.add(key, step, now);
          }
          subtasks.send(rows);
          now = later(now, numbers.nextInt(900));
        }
        long[] barriers = new long[parallelism];
        for (int i = 0; i < parallelism; i++) {
          barriers[i] = later(now, numbers.nextInt(3_000));
        }
        snapshot = subtasks.snapshotAt(barriers, results);
        now = later(LongStream.of(barriers).max().orElseThrow(), 0);
      }
    }
  }

  // The harness runs timers at their time, and a task a millisecond later.
  private static long later(long time, int millis) {
    long later = time + 1 + millis;
    return later % 1_000 == 999 ? later + 1 : later;
  }

  @ParameterizedTest
  @MethodSource("windows")
  void resultsAreThoseOfEventTimeIfRowsHaveTheTimeOfTheClock(TimeWindow window, WindowModel model)
      throws Exception {
    Random numbers = random.random();
    try (WindowHarness harness = job(window).open(device)) {
      long now = 1;
      for (int step = 0; step < 200; step++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = numbers.nextInt(4); i > 0; i--) {
          long key = numbers.nextInt(5);
          rows.add(List.of(key, i));
          model.add(key, i, now);
        }
        harness.send(0, rows);
        now = later(now, numbers.nextInt(numbers.nextInt(10) == 0 ? 5_000 : 600));
        assertThat(harness.resultsAt(now))
            .as("at %d", now)
            .containsExactlyInAnyOrderElementsOf(model.results(now));
      }
    }
  }
}
