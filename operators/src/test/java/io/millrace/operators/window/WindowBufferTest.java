// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.firstValue;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static io.millrace.operators.window.WindowHarness.ROWS;
import static io.millrace.operators.window.WindowHarness.row;
import static io.millrace.operators.window.WindowHarness.time;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.window.WindowHarness.Job;
import io.millrace.operators.window.WindowSubtasks.Snapshot;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.io.IOException;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Windows of batches with rows of many slices. */
@ExtendWith(NothingHeldExtension.class)
class WindowBufferTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final TimeWindow TUMBLE = Tumble.over("ts", SECOND);
  private static final TimeWindow HOP = Hop.over("ts", SECOND.multipliedBy(3)).every(SECOND);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static Job job(TimeWindow window) {
    return new Job(ROWS, List.of("k"), window, count(), sum("v"));
  }

  static Stream<Arguments> windows() {
    return Stream.of(
        Arguments.of(TUMBLE, new WindowModel(1_000, 1_000, false)),
        Arguments.of(HOP, new WindowModel(3_000, 1_000, false)));
  }

  // Batches of one slice, of many, and of late rows among them.
  @ParameterizedTest
  @MethodSource("windows")
  void batchesOfFewAndOfManySlicesAreRescaled(TimeWindow window, WindowModel model)
      throws Exception {
    Random numbers = random.random();
    Snapshot snapshot = null;
    long now = 0;
    long late = 0;
    for (int parallelism : new int[] {2, 3, 1, 2}) {
      try (WindowSubtasks subtasks =
          WindowSubtasks.open(device, job(window), parallelism, snapshot)) {
        for (int batch = 0; batch < 30; batch++) {
          now += numbers.nextInt(2_000);
          int spread = numbers.nextInt(3) == 0 ? 500 : 9_000;
          List<List<Object>> rows = new ArrayList<>();
          for (int i = numbers.nextInt(60); i > 0; i--) {
            long key = numbers.nextInt(20);
            long time = now + numbers.nextInt(spread) - (numbers.nextInt(30) == 0 ? 9_000 : 0);
            rows.add(row(key, i, time));
            model.add(key, i, time);
          }
          subtasks.send(rows);
          long watermark = now - 1_000 + numbers.nextInt(numbers.nextInt(10) == 0 ? 9_000 : 1_500);
          assertThat(subtasks.results(watermark))
              .as("after watermark %d", watermark)
              .containsExactlyInAnyOrderElementsOf(model.results(watermark));
          now = Math.max(now, watermark - 500);
        }
        late += subtasks.lateRowsDropped();
        snapshot = subtasks.snapshot();
      }
    }
    assertThat(late).isPositive().isEqualTo(model.lateRows());
  }

  private static final List<List<Object>> FOUR_SLICES =
      List.of(row(1, 1, 500), row(1, 2, 1_500), row(2, 4, 2_500), row(1, 8, 3_500));

  @OutOfMemoryTest
  void aCheckpointHasTheRowsOfTheBuffer() throws Exception {
    OperatorSubtaskState state;
    try (WindowHarness harness = job(HOP).open(device)) {
      harness.send(0, FOUR_SLICES);
      assertThat(harness.results(999)).containsExactly("[1, 1, 1] -2000..1000");
      state = harness.snapshot();
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.rowsInState()).isEqualTo(4);
      harness.send(0, List.of(row(1, 16, 1_500)));
    }
    try (WindowHarness harness = job(HOP).restore(device, state)) {
      assertThat(harness.isBuffered()).isFalse();
      assertThat(harness.rowsInState()).isEqualTo(4);
      harness.send(
          0, List.of(row(1, 16, 1_500), row(3, 32, 2_500), row(1, 64, 4_500), row(1, 0, 1_000)));
      assertThat(harness.isBuffered()).isTrue();
      harness.send(0, List.of(row(1, 0, -9_000), row(4, 128, 4_000)));
      assertThat(harness.lateRowsDropped()).isEqualTo(1);
      assertThat(harness.results(3_999))
          .containsExactlyInAnyOrder(
              "[1, 4, 19] -1000..2000",
              "[1, 4, 19] 0..3000",
              "[2, 1, 4] 0..3000",
              "[3, 1, 32] 0..3000",
              "[1, 4, 26] 1000..4000",
              "[2, 1, 4] 1000..4000",
              "[3, 1, 32] 1000..4000");
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactlyInAnyOrder(
              "[1, 2, 72] 2000..5000",
              "[2, 1, 4] 2000..5000",
              "[3, 1, 32] 2000..5000",
              "[4, 1, 128] 2000..5000",
              "[1, 2, 72] 3000..6000",
              "[4, 1, 128] 3000..6000",
              "[1, 1, 64] 4000..7000",
              "[4, 1, 128] 4000..7000");
    }
  }

  // The slices of the checkpoint with the larger watermark had not been given up by then.
  @Test
  void rowsOfSlicesThatWereLateAreNotRestored() throws Exception {
    OperatorSubtaskState state;
    try (WindowHarness harness = job(TUMBLE).open(device)) {
      harness.send(0, FOUR_SLICES);
      assertThat(harness.results(1_999))
          .containsExactly("[1, 1, 1] 0..1000", "[1, 1, 2] 1000..2000");
      assertThat(harness.rowsInState()).isEqualTo(4);
      state = harness.snapshot();
    }
    try (WindowHarness harness = job(TUMBLE).restore(device, state)) {
      assertThat(harness.rowsInState()).isEqualTo(2);
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly("[2, 1, 4] 2000..3000", "[1, 1, 8] 3000..4000");
    }
  }

  @Test
  void aCheckpointWithRowsOfTheBufferIsRestoredByTheSameWindows() throws Exception {
    OperatorSubtaskState state;
    try (WindowHarness harness = job(HOP).open(device)) {
      harness.send(0, FOUR_SLICES);
      assertThat(harness.results(999)).hasSize(1);
      state = harness.snapshot();
    }
    try (WindowHarness harness = job(HOP).withAllowedLateness(SECOND).restore(device, state)) {
      assertThat(harness.results(3_999))
          .containsExactly(
              "+I[1, 2, 3] -1000..2000",
              "+I[1, 2, 3] 0..3000",
              "+I[2, 1, 4] 0..3000",
              "+I[1, 2, 10] 1000..4000",
              "+I[2, 1, 4] 1000..4000");
      harness.send(0, FOUR_SLICES);
      assertThat(harness.isBuffered()).isFalse();
    }
    Job ordered = new Job(ROWS, List.of("k"), HOP, count(), sum("v"), firstValue("v"));
    assertThatThrownBy(() -> ordered.restore(device, state))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("and the job has");
    assertThatThrownBy(() -> job(TUMBLE).restore(device, state))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("expected a checkpoint of TUMBLE");
    assertThatThrownBy(() -> job(HOP).withEarlyFiring(SECOND).restore(device, state))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("expected a checkpoint of windows with earlyFiring");
  }

  @Test
  void windowsOfThousandsOfSlicesFire() throws Exception {
    WindowModel model = new WindowModel(3_000, 1_000, false);
    try (WindowHarness harness = job(HOP).open(device)) {
      for (int batch = 0; batch < 2; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
          long time = (i * 7_919L + batch) % 5_000_000;
          rows.add(row(i % 3, i, time));
          model.add(i % 3, i, time);
        }
        harness.send(0, rows);
        assertThat(harness.isBuffered()).isTrue();
      }
      for (long watermark : new long[] {1_500_000, Long.MAX_VALUE}) {
        assertThat(harness.results(watermark))
            .containsExactlyInAnyOrderElementsOf(model.results(watermark));
      }
      assertThat(harness.rowsInState()).isZero();
    }
  }

  // A table for each slice then: the slices in between would be looked at without rows.
  @Test
  void slicesThatAreFarApartAreTables() throws Exception {
    try (WindowHarness harness = job(TUMBLE).open(device)) {
      harness.send(0, FOUR_SLICES);
      assertThat(harness.isBuffered()).isTrue();
      harness.send(0, List.of(row(1, 16, 70_000_000_000L)));
      assertThat(harness.isBuffered()).isFalse();
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactly(
              "[1, 1, 1] 0..1000",
              "[1, 1, 2] 1000..2000",
              "[2, 1, 4] 2000..3000",
              "[1, 1, 8] 3000..4000",
              "[1, 1, 16] 70000000000..70000001000");
    }
  }

  @OutOfMemoryTest
  void windowsOfOneSliceComeTogether() throws Exception {
    try (WindowHarness harness = job(TUMBLE).open(device)) {
      harness.send(
          0, List.of(row(1, 1, 500), row(1, 2, 1_500), row(2, 4, 1_600), row(1, 8, 3_500)));
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.results(1_999))
          .containsExactly("[1, 1, 1] 0..1000", "[1, 1, 2] 1000..2000", "[2, 1, 4] 1000..2000");
      assertThat(harness.results(Long.MAX_VALUE)).containsExactly("[1, 1, 8] 3000..4000");
    }
  }

  // Late rows are most of the rows.
  @Test
  void rowsOfLateSlicesAreGivenUp() throws Exception {
    Random numbers = random.random();
    WindowModel model = new WindowModel(1_000, 1_000, false);
    try (WindowHarness harness = job(TUMBLE).open(device)) {
      for (long now = 0; now < 200_000; now += 4_000) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
          long key = numbers.nextInt(1_000);
          long time = now + numbers.nextInt(8_000);
          rows.add(row(key, i, time));
          model.add(key, i, time);
        }
        harness.send(0, rows);
        assertThat(harness.results(now)).containsExactlyInAnyOrderElementsOf(model.results(now));
      }
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.rowsInState()).isBetween(1L, 10_000L);
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactlyInAnyOrderElementsOf(model.results(Long.MAX_VALUE));
    }
  }

  @Test
  void timesMayBeWholeSeconds() throws Exception {
    Schema schema =
        Schema.of(
            new Field("k", DataType.INT64, false), new Field("ts", DataType.timestamp(0), false));
    try (WindowHarness harness = new Job(schema, List.of("k"), HOP, count()).open(device)) {
      List<List<Object>> rows = new ArrayList<>();
      for (long second = 0; second < 5; second++) {
        rows.add(List.of(1L, time(1_000 * second)));
      }
      harness.send(0, rows);
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.results(Long.MAX_VALUE)).hasSize(7);
    }
  }

  // One row is late, and the other one is as far from it as times can be.
  @Test
  void aLateRowAndOneOfTheLastTimesAreApart() throws Exception {
    long last = Long.MAX_VALUE - 100_000;
    try (WindowHarness harness = job(TUMBLE).open(device)) {
      assertThat(harness.results(10_000)).isEmpty();
      harness.send(0, List.of(row(1, 1, 5_000), row(1, 2, last)));
      assertThat(harness.lateRowsDropped()).isEqualTo(1);
      assertThat(harness.results(Long.MAX_VALUE - 50_000)).hasSize(1);
    }
  }

  @OutOfMemoryTest
  void keysMayBeStringsAndNull() throws Exception {
    Schema schema =
        Schema.of(
            Field.of("name", DataType.STRING),
            Field.of("at", DataType.timestamp(9)),
            new Field("ts", DataType.timestamp(3), false),
            Field.of("d", DataType.decimal(38, 1)),
            Field.of("v", DataType.INT32));
    String name = "a name of more than 12 bytes";
    LocalDateTime at = LocalDateTime.of(2024, 6, 1, 0, 0, 0, 123_456_789);
    Job job =
        new Job(schema, List.of("name", "at"), HOP, sum("d").as("d"), avg("v").as("a"), max("v"));
    OperatorSubtaskState state;
    try (WindowHarness harness = job.open(device)) {
      List<List<Object>> rows = new ArrayList<>();
      for (int slice = 0; slice < 5; slice++) {
        rows.add(Arrays.asList(name, at, time(slice * 1_000L), null, slice));
        rows.add(Arrays.asList(null, at, time(slice * 1_000L + 1), null, null));
      }
      harness.send(0, rows);
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.results(999))
          .containsExactlyInAnyOrder(
              "[" + name + ", " + at + ", null, 0, 0] -2000..1000",
              "[null, " + at + ", null, null, null] -2000..1000");
      state = harness.snapshot();
      harness.send(0, rows);
    }
    try (WindowHarness harness = job.restore(device, state)) {
      harness.send(
          0,
          List.of(
              Arrays.asList(name, null, time(1_000), null, 7),
              Arrays.asList(name, at, time(6_000), null, 9)));
      assertThat(harness.results(1_999))
          .containsExactlyInAnyOrder(
              "[" + name + ", " + at + ", null, 0, 1] -1000..2000",
              "[null, " + at + ", null, null, null] -1000..2000",
              "[" + name + ", null, null, 7, 7] -1000..2000");
    }
  }
}
