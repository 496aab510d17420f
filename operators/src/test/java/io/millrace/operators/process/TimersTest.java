// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.process.ProcessHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.TimeDomain;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Timers of event time and of processing time, compared with sorted sets. */
@ExtendWith(NothingHeldExtension.class)
class TimersTest {
  private static final byte SET = Reminders.SET;
  private static final byte DELETE = Reminders.DELETE;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private static Job job(long slices, boolean isProcessingTime) {
    return new Job(Reminders.ROWS, List.of("k"), new Reminders(slices, isProcessingTime));
  }

  private static List<Object> row(Long key, long time, byte action) {
    return asList(key, time, action);
  }

  @OutOfMemoryTest
  void timersAreDueWhenTheWatermarkIsThere() throws Exception {
    try (ProcessHarness harness = job(8, false).open(device)) {
      harness.watermark(0);
      assertThat(harness.results(row(1L, 15, SET), row(null, 9, SET), row(1L, 6, SET))).isEmpty();
      harness.results(row(1L, 15, SET), row(2L, 11, SET), row(2L, 13, SET), row(2L, 11, DELETE));
      harness.watermark(5);
      assertThat(harness.takeTexts()).isEmpty();
      harness.watermark(9);
      assertThat(harness.takeTexts()).containsExactly("[1, 6, 0]", "[null, 9, 0]");
      harness.watermark(100);
      assertThat(harness.takeTexts()).containsExactly("[2, 13, 0]", "[1, 15, 1]");
      harness.results(row(1L, 50, SET));
      harness.watermark(101);
      assertThat(harness.takeTexts()).containsExactly("[1, 50, 2]", "[1, 53, 3]");
      harness.watermark(102);
      assertThat(harness.takeTexts()).isEmpty();
    }
  }

  @OutOfMemoryTest
  void timersAreInTheCheckpoint() throws Exception {
    OperatorSubtaskState state;
    try (ProcessHarness harness = job(1_000, false).open(device)) {
      harness.results(row(1L, 15, SET), row(2L, 9, SET), row(3L, 2_001, SET), row(4L, 8, SET));
      harness.watermark(8);
      assertThat(harness.takeTexts()).containsExactly("[4, 8, 0]");
      state = harness.snapshot();
    }
    try (ProcessHarness harness = job(1_000, false).restore(device, 0, 1, state)) {
      harness.results(row(4L, 9, SET), row(2L, 9, SET));
      harness.watermark(1_000);
      assertThat(harness.takeTexts()).containsExactly("[2, 9, 0]", "[4, 9, 1]", "[1, 15, 0]");
      harness.watermark(2_001);
      assertThat(harness.takeTexts()).containsExactly("[3, 2001, 0]");
    }
    assertThatThrownBy(() -> job(2_000, false).restore(device, 0, 1, state).close())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("$IS_TIMER(1 s)")
        .hasMessageContaining("$IS_TIMER(2 s)");
  }

  @OutOfMemoryTest
  void timersOfProcessingTimeAreDueByTheClock() throws Exception {
    OperatorSubtaskState state;
    try (ProcessHarness harness = job(8, true).open(device)) {
      harness.setProcessingTime(1);
      harness.results(row(1L, 105, SET), row(2L, 51, SET), row(1L, 51, SET), row(2L, 51, DELETE));
      harness.watermark(1_000);
      harness.results(row(3L, 12, SET));
      assertThat(harness.takeTexts()).isEmpty();
      harness.setProcessingTime(11);
      assertThat(harness.takeTexts()).isEmpty();
      harness.setProcessingTime(12);
      assertThat(harness.takeTexts()).containsExactly("[3, 12, 0]");
      harness.setProcessingTime(60);
      assertThat(harness.takeTexts()).containsExactly("[1, 51, 0]");
      state = harness.snapshot();
    }
    try (ProcessHarness harness = job(8, true).restore(device, 0, 1, state)) {
      harness.setProcessingTime(104);
      assertThat(harness.takeTexts()).isEmpty();
      harness.setProcessingTime(105);
      assertThat(harness.takeTexts()).containsExactly("[1, 105, 1]");
    }
  }

  @Test
  void timersOfProcessingTimeAreDueBehindRescaling() throws Exception {
    Model model = new Model();
    OperatorSubtaskState state = null;
    int before = 0;
    long now = 0;
    for (int parallelism : List.of(2, 3, 1, 2)) {
      try (ProcessSubtasks subtasks =
          ProcessSubtasks.restore(job(40, true), device, parallelism, before, state)) {
        for (int batch = 0; batch < 5; batch++) {
          List<List<Object>> rows = randomRows(40, now + 1);
          rows.forEach(model::process);
          List<List<Object>> due = subtasks.results(rows);
          now += 30;
          due.addAll(subtasks.setProcessingTime(now));
          assertThat(byKey(due)).isEqualTo(byText(model.watermark(now)));
        }
        state = subtasks.snapshot();
        before = parallelism;
      }
    }
  }

  private List<List<Object>> randomRows(int count, long firstTime) {
    Random random = seed.random();
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(
          row(
              random.nextInt(5) == 0 ? null : random.nextLong(10),
              firstTime + random.nextLong(200),
              random.nextInt(3) == 0 ? DELETE : SET));
    }
    return rows;
  }

  private static Map<String, List<List<Object>>> byKey(List<List<Object>> rows) {
    Map<Object, List<List<Object>>> results = new HashMap<>();
    rows.forEach(row -> results.computeIfAbsent(row.get(0), key -> new ArrayList<>()).add(row));
    return byText(results);
  }

  // On the device alone: the timers that the rows set, for keys of any type.
  private record AnyKey(DataType type) implements KeyedBatchFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Schema outputSchema(Schema input) {
      return Schema.of(Field.of("k", type), new Field("time", DataType.INT64, false));
    }

    @Override
    public Schema stateSchema(Schema input) {
      return Schema.of(Field.of("unused", DataType.BOOL));
    }

    @Override
    public Duration timerSlices() {
      return Duration.ofMillis(40);
    }

    @Override
    public KeyedResult process(KeyedBatch batch) {
      List<Column> timers = new ArrayList<>();
      timers.add(batch.keyNumbers().share());
      for (String column : List.of("time", "is_processing_time", "is_set")) {
        timers.add(batch.rows().column(column).share());
      }
      return new KeyedResult(
          null, null, new Table(KeyedResult.TIMERS, timers, batch.rows().rowCount()));
    }

    @Override
    public KeyedResult onTimer(KeyedBatch timers, TimeDomain domain) {
      List<Column> output =
          List.of(timers.keys().column("k").share(), timers.rows().column(TIMER).share());
      return new KeyedResult(new Table(outputSchema(null), output, timers.rows().rowCount()), null);
    }
  }

  @ParameterizedTest
  @MethodSource("io.millrace.operators.process.ProcessOperatorTest#types")
  void keysOfEachTypeHaveTimers(DataType type) throws Exception {
    Schema schema =
        Schema.of(
            Field.of("k", type),
            new Field("time", DataType.INT64, false),
            new Field("is_processing_time", DataType.BOOL, false),
            new Field("is_set", DataType.BOOL, false));
    Random random = seed.random();
    List<List<Object>> keys = new RandomTables(random, 0.2).rows(Schema.of(schema.field(0)), 30);
    NavigableMap<Long, Set<List<Object>>> set = new TreeMap<>();
    try (ProcessHarness harness = new Job(schema, List.of("k"), new AnyKey(type)).open(device)) {
      for (long watermark = 60; watermark < 600; watermark += 60) {
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
          Object key = keys.get(random.nextInt(keys.size())).get(0);
          long time = watermark - 59 + random.nextLong(200);
          rows.add(asList(key, time, false, true));
          set.computeIfAbsent(time, absent -> new HashSet<>()).add(asList(key, time));
        }
        harness.send(0, rows);
        harness.watermark(watermark);
        Map<Long, Set<List<Object>>> due = set.headMap(watermark, true);
        assertThat(harness.takeRows())
            .containsExactlyInAnyOrderElementsOf(
                due.values().stream().flatMap(Collection::stream).toList());
        due.clear();
      }
    }
  }

  @OutOfMemoryTest
  void timersOfOneSliceAreDueAtSeveralWatermarks() throws Exception {
    try (ProcessHarness harness = job(1_000, false).open(device)) {
      harness.results(row(1L, 5, SET), row(2L, 6, SET), row(1L, 8, SET), row(2L, 9, SET));
      harness.watermark(7);
      harness.watermark(9);
      assertThat(harness.takeTexts())
          .containsExactly("[1, 5, 0]", "[2, 6, 0]", "[1, 8, 1]", "[2, 9, 1]");
    }
  }

  /** The timers of all keys, one by one. */
  private static final class Model {
    private final Map<Long, TreeSet<Long>> timers = new HashMap<>();
    private final Map<Long, Integer> due = new HashMap<>();

    void process(List<Object> row) {
      TreeSet<Long> times = timers.computeIfAbsent((Long) row.get(0), key -> new TreeSet<>());
      if (row.get(2).equals(SET)) {
        times.add((Long) row.get(1));
      } else {
        times.remove((Long) row.get(1));
      }
    }

    // The rows of each key.
    Map<Object, List<List<Object>>> watermark(long now) {
      Map<Object, List<List<Object>>> rows = new HashMap<>();
      timers.forEach(
          (key, times) -> {
            while (!times.isEmpty() && times.first() <= now) {
              long time = times.pollFirst();
              int before = due.getOrDefault(key, 0);
              rows.computeIfAbsent(key, absent -> new ArrayList<>()).add(asList(key, time, before));
              due.put(key, time % 7 == 0 ? 0 : before + 1);
              if (time % 10 == 0) {
                times.add(time + 3);
              }
            }
          });
      return rows;
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {4, 40, 4_000})
  void theTimersOfAKeyAreDueInTheirOrder(long slices) throws Exception {
    Random random = seed.random();
    Model model = new Model();
    try (ProcessHarness harness = job(slices, false).open(device)) {
      long watermark = -100;
      for (int batch = 0; batch < 30; batch++) {
        List<List<Object>> rows = randomRows(random.nextInt(60), watermark - 10);
        rows.forEach(model::process);
        harness.send(0, rows);
        watermark += random.nextInt(3) == 0 ? 0 : random.nextInt(60);
        harness.watermark(watermark);
        assertThat(byKey(harness.takeRows())).isEqualTo(byText(model.watermark(watermark)));
      }
      harness.watermark(Long.MAX_VALUE);
      model.watermark(watermark + 1_000);
      assertThat(harness.rowsInState()).as("timers that are past take no rows").isLessThan(12);
    }
  }

  private static Map<String, List<List<Object>>> byText(Map<Object, List<List<Object>>> rows) {
    Map<String, List<List<Object>>> named = new TreeMap<>();
    rows.forEach((key, of) -> named.put(String.valueOf(key), of));
    return named;
  }

  @Test
  void slicesOfAnyWidthAndTimesOfAnySizeAreKept() throws Exception {
    try (ProcessHarness harness = job(60_000, false).open(device)) {
      harness.results(row(1L, Long.MAX_VALUE, SET), row(2L, Long.MIN_VALUE, SET), row(3L, -1, SET));
      harness.watermark(Long.MAX_VALUE);
      assertThat(harness.takeTexts())
          .containsExactly(
              "[2, " + Long.MIN_VALUE + ", 0]", "[3, -1, 0]", "[1, " + Long.MAX_VALUE + ", 0]");
    }
  }

  @Test
  void slicesThatCannotBeKeptAreRefused() {
    assertThatThrownBy(() -> job(6, false).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage("expected slices of timers of a multiple of 4 ms, got PT0.006S");
  }
}
