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
import io.millrace.operators.window.SessionModel.Row;
import io.millrace.operators.window.WindowHarness.Job;
import io.millrace.operators.window.WindowSubtasks.Snapshot;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Sessions of batches with rows of many slices. */
@ExtendWith(NothingHeldExtension.class)
class SessionBufferTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static Job job(long gap) {
    TimeWindow window = Session.over("ts", Duration.ofMillis(gap));
    return new Job(ROWS, List.of("k"), window, count(), sum("v"));
  }

  // Batches of one slice, of many, and of late rows among them.
  @ParameterizedTest
  @CsvSource({"5, 3, 0", "100, 20, 0", "400, 200, 0", "900, 40, 0", "100, 20, 30", "900, 40, 30"})
  void sessionsOfFewAndOfManySlicesAreRescaled(long gap, int keys, int lateBatches)
      throws Exception {
    Random numbers = random.random();
    SessionModel model = new SessionModel(gap);
    Snapshot snapshot = null;
    long now = 0;
    long late = 0;
    int buffered = 0;
    for (int parallelism : new int[] {2, 3, 1, 4}) {
      try (WindowSubtasks subtasks = WindowSubtasks.open(device, job(gap), parallelism, snapshot)) {
        for (int batch = 0; batch < 40; batch++) {
          now += numbers.nextInt(2_000);
          int spread = numbers.nextInt(3) == 0 ? 50 : 6_000;
          boolean hasLateRows = lateBatches > 0 && numbers.nextInt(lateBatches) == 0;
          List<Row> rows = new ArrayList<>();
          for (int i = numbers.nextInt(100); i > 0; i--) {
            long time = now + numbers.nextInt(spread) - (hasLateRows ? numbers.nextInt(4_000) : 0);
            rows.add(new Row(numbers.nextInt(keys), numbers.nextInt(-100, 100), time));
          }
          model.add(rows);
          subtasks.send(rows.stream().map(row -> row(row.key(), row.value(), row.time())).toList());
          buffered += subtasks.isBuffered() ? 1 : 0;
          long watermark = now - 1 - numbers.nextInt(1_500);
          assertThat(subtasks.results(watermark))
              .as("after watermark %d", watermark)
              .containsExactlyInAnyOrderElementsOf(model.results(watermark));
        }
        late += subtasks.lateRowsDropped();
        snapshot = subtasks.snapshot();
      }
    }
    assertThat(late).isEqualTo(model.lateRows());
    assertThat(buffered).as("batches after which a subtask was buffered").isGreaterThan(40);
  }

  // Each part of the batches has several rows. The third attempt is the last; then there are parts.
  @OutOfMemoryTest(attempts = 3)
  void whatDoesNotFitIsDoneInParts() throws Exception {
    try (WindowHarness harness = job(1_000).open(device)) {
      for (int batch = 0; batch < 2; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
          rows.add(row(1, -7, 900L * i));
          rows.add(row(2, 5, 900L * i + 10_000L * (i / 4)));
        }
        harness.send(0, rows);
        assertThat(harness.isBuffered()).isTrue();
      }
      assertThat(harness.results(8_000))
          .containsExactlyInAnyOrder("[1, 12, -84] 0..5500", "[2, 8, 40] 0..3700");
      assertThat(harness.results(Long.MAX_VALUE)).containsExactly("[2, 4, 20] 13600..15500");
    }
  }

  @ParameterizedTest
  @CsvSource({"0, false", "3, true", "1, true"})
  void timesMayBeInstantsAndWholeSeconds(int precision, boolean areInstants) throws Exception {
    Schema schema =
        Schema.of(
            new Field("k", DataType.INT64, false),
            new Field("ts", DataType.timestamp(precision, areInstants), false));
    List<List<Object>> rows = new ArrayList<>();
    for (long second = 0; second < 5; second++) {
      rows.add(List.of(1L, areInstants ? Instant.ofEpochSecond(2 * second) : time(2_000 * second)));
    }
    TimeWindow window = Session.over("ts", Duration.ofSeconds(1));
    try (WindowHarness harness = new Job(schema, List.of("k"), window, count()).open(device)) {
      harness.send(0, rows);
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.results(Long.MAX_VALUE)).hasSize(5);
    }
  }

  private static final List<List<Object>> FOUR_SLICES =
      List.of(row(1, 1, 500), row(1, 2, 1_400), row(2, 4, 2_500), row(1, 8, 3_500));

  @OutOfMemoryTest
  void aCheckpointHasTheSessionsOfTheBuffer() throws Exception {
    OperatorSubtaskState state;
    try (WindowHarness harness = job(1_000).open(device)) {
      harness.send(0, FOUR_SLICES);
      assertThat(harness.isBuffered()).isTrue();
      // The row of 500 has passed, and its session has not.
      assertThat(harness.results(1_600)).isEmpty();
      assertThat(harness.results(2_399)).containsExactly("[1, 2, 3] 500..2400");
      state = harness.snapshot();
      assertThat(harness.isBuffered()).isTrue();
      harness.send(0, List.of(row(1, 16, 3_500)));
    }
    try (WindowHarness harness = job(1_000).restore(device, state)) {
      assertThat(harness.isBuffered()).isFalse();
      harness.send(0, List.of(row(1, 16, 2_000), row(3, 32, 2_500), row(1, 64, 5_500)));
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.results(3_499))
          .containsExactlyInAnyOrder(
              "[1, 1, 16] 2000..3000", "[2, 1, 4] 2500..3500", "[3, 1, 32] 2500..3500");
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactlyInAnyOrder("[1, 1, 8] 3500..4500", "[1, 1, 64] 5500..6500");
      assertThat(harness.isBuffered()).isFalse();
    }
  }

  @Test
  void aCheckpointWithRowsOfABufferIsRestoredByTheSameSessions() throws Exception {
    OperatorSubtaskState sessions;
    try (WindowHarness harness = job(1_000).open(device)) {
      harness.send(0, FOUR_SLICES);
      sessions = harness.snapshot();
    }
    assertThatThrownBy(() -> job(2_000).restore(device, sessions))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("expected a checkpoint of SESSION(gap=[2 s])");
    TimeWindow tumble = Tumble.over("ts", Duration.ofSeconds(1));
    OperatorSubtaskState windows;
    try (WindowHarness harness =
        new Job(ROWS, List.of("k"), tumble, count(), sum("v")).open(device)) {
      harness.send(0, FOUR_SLICES);
      windows = harness.snapshot();
    }
    assertThatThrownBy(() -> job(1_000).restore(device, windows))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("and the job has");
  }

  // Each row touches the next one only, in a slice of its own.
  @OutOfMemoryTest
  void aLongSessionGoesOnWhileItsRowsPass() throws Exception {
    try (WindowHarness harness = job(1_000).open(device)) {
      for (int batch = 0; batch < 8; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 10 * batch; i < 10 * batch + 10; i++) {
          rows.add(row(1, 1, 900L * i));
          rows.add(row(2 + i, 1, 900L * i));
        }
        harness.send(0, rows);
        assertThat(harness.isBuffered()).isTrue();
        assertThat(harness.results(9_000L * batch + 3_000))
            .hasSize(batch == 0 ? 3 : 10)
            .noneMatch(result -> result.startsWith("[1,"));
      }
      assertThat(harness.results(Long.MAX_VALUE)).hasSize(8).contains("[1, 80, 80] 0..72100");
    }
  }

  @OutOfMemoryTest
  void lateRowsJoinSessionsThatTheyTouch() throws Exception {
    try (WindowHarness harness = job(1_000).open(device)) {
      harness.send(0, FOUR_SLICES);
      assertThat(harness.results(2_600)).containsExactly("[1, 2, 3] 500..2400");
      harness.send(
          0, List.of(row(2, 16, 1_550), row(1, 32, 1_550), row(4, 64, 9_000), row(2, -1, 600)));
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.lateRowsDropped()).isEqualTo(1);
      assertThat(harness.results(3_499)).containsExactly("[2, 3, 19] 600..3500");
      harness.send(0, List.of(row(1, 128, 2_400), row(4, 256, 2_400)));
      assertThat(harness.lateRowsDropped()).isEqualTo(3);
      harness.send(0, List.of(row(1, 128, 2_499), row(4, 256, 2_501)));
      assertThat(harness.lateRowsDropped()).isEqualTo(4);
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactlyInAnyOrder(
              "[4, 1, 256] 2501..3501", "[1, 1, 8] 3500..4500", "[4, 1, 64] 9000..10000");
    }
  }

  // A watermark passes more slices than are looked at together.
  @Test
  void aSessionOfThousandsOfSlicesEnds() throws Exception {
    try (WindowHarness harness = job(1_000).open(device)) {
      List<List<Object>> rows = new ArrayList<>();
      for (int i = 0; i < 3_000; i++) {
        rows.add(row(1, 1, 900L * i));
        rows.add(row(2, 1, 900L * i + (i < 1_500 ? 0 : 2_000)));
      }
      rows.add(row(3, 1, 30_000_000));
      harness.send(0, rows);
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.results(2_000_000)).containsExactly("[2, 1500, 1500] 0..1350100");
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactlyInAnyOrder(
              "[1, 3000, 3000] 0..2700100",
              "[2, 1500, 1500] 1352000..2702100",
              "[3, 1, 1] 30000000..30001000");
    }
  }

  // More slices than are grouped at once, with all times among each other.
  @Test
  void sessionsOfThousandsOfSlicesAreTablesAgain() throws Exception {
    try (WindowHarness harness = job(1_000).open(device)) {
      List<List<Object>> rows = new ArrayList<>();
      for (int i = 0; i < 3_000; i++) {
        rows.add(row(i, i, 2_000L * (i * 7 % 3_000)));
      }
      harness.send(0, rows);
      assertThat(harness.isBuffered()).isTrue();
      harness.send(0, List.of(row(-1, -1, 70_000_000_000L)));
      assertThat(harness.isBuffered()).isFalse();
      List<String> results = harness.results(Long.MAX_VALUE);
      assertThat(results).hasSize(3_001).doesNotHaveDuplicates();
      assertThat(results.subList(0, 2))
          .containsExactly("[0, 1, 0] 0..1000", "[2143, 1, 2143] 2000..3000");
      assertThat(results.get(3_000)).isEqualTo("[-1, 1, -1] 70000000000..70000001000");
    }
  }

  @Test
  void sessionsAtTheFirstTimesAreKept() throws Exception {
    long least = Long.MIN_VALUE + 10_000;
    try (WindowHarness harness = job(1_000).open(device)) {
      harness.send(
          0, List.of(row(1, 1, least), row(1, 2, least + 1_500), row(2, 4, least + 5_000)));
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.results(Long.MIN_VALUE + 1_001)).isEmpty();
      assertThat(harness.results(least + 6_000)).hasSize(3);
    }
  }

  @Test
  void rowsThatHavePassedAreGivenUp() throws Exception {
    Random numbers = random.random();
    SessionModel model = new SessionModel(500);
    try (WindowHarness harness = job(500).open(device)) {
      for (long now = 0; now < 200_000; now += 4_000) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
          rows.add(new Row(numbers.nextInt(1_000), i, now + numbers.nextInt(8_000)));
        }
        model.add(rows);
        harness.send(0, rows.stream().map(row -> row(row.key(), row.value(), row.time())).toList());
        assertThat(harness.results(now)).containsExactlyInAnyOrderElementsOf(model.results(now));
      }
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.rowsInState()).isBetween(1L, 12_000L);
      assertThat(harness.results(Long.MAX_VALUE))
          .containsExactlyInAnyOrderElementsOf(model.results(Long.MAX_VALUE));
      assertThat(harness.rowsInState()).isZero();
    }
  }

  @Test
  void aggregatesThatDependOnTheOrderOfRowsHaveNoBuffer() throws Exception {
    Job job =
        new Job(ROWS, List.of("k"), Session.over("ts", Duration.ofSeconds(1)), firstValue("v"));
    try (WindowHarness harness = job.open(device)) {
      harness.send(0, FOUR_SLICES);
      assertThat(harness.isBuffered()).isFalse();
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
    TimeWindow window = Session.over("ts", Duration.ofSeconds(1));
    Job job =
        new Job(
            schema, List.of("name", "at"), window, sum("d").as("d"), avg("v").as("a"), max("v"));
    OperatorSubtaskState state;
    try (WindowHarness harness = job.open(device)) {
      List<List<Object>> rows = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        rows.add(Arrays.asList(name, at, time(i * 900L), BigDecimal.valueOf(10L * (i - 3), 1), i));
        rows.add(Arrays.asList(null, at, time(i * 1_100L), null, null));
      }
      harness.send(0, rows);
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.results(2_200))
          .containsExactlyInAnyOrder(
              "[null, " + at + ", null, null, null] 0..1000",
              "[null, " + at + ", null, null, null] 1100..2100");
      state = harness.snapshot();
      harness.send(0, rows.subList(8, 10));
    }
    try (WindowHarness harness = job.restore(device, state)) {
      harness.send(
          0,
          List.of(
              Arrays.asList(name, null, time(2_000), null, 7),
              Arrays.asList(name, at, time(9_000), null, 9)));
      assertThat(harness.isBuffered()).isTrue();
      assertThat(harness.results(6_000))
          .containsExactlyInAnyOrder(
              "[" + name + ", " + at + ", -5.0, 2, 4] 0..4600",
              "[" + name + ", null, null, 7, 7] 2000..3000",
              "[null, " + at + ", null, null, null] 2200..3200",
              "[null, " + at + ", null, null, null] 3300..4300",
              "[null, " + at + ", null, null, null] 4400..5400");
    }
  }
}
