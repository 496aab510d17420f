// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.operators.aggregate.Aggregate.count;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.state.KeyedOperatorHarness;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.TimeDomain;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys, and what operators in front of the aggregates keep of them, are forgotten together. */
@ExtendWith(NothingHeldExtension.class)
class ArgumentTtlTest {
  private static final int TTL = 100;
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT32, false),
          Field.of("x", DataType.INT64),
          Field.of("w", DataType.INT32));
  private static final Aggregate DISTINCT = count("x").distinct();
  private static final GroupAggregatePlan PLAN = plan(TimeDomain.PROCESSING_TIME, TTL);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  // A function, then DISTINCT, then the aggregates.
  private static GroupAggregatePlan plan(TimeDomain domain, int timeToLive) {
    return new GroupAggregatePlan(
        ROWS,
        List.of("k"),
        List.of(count(), DISTINCT, Aggregate.of(new WeightedSum(), "x", "w")),
        ExpressionSettings.DEFAULT,
        new StateTtl(Duration.ofMillis(timeToLive), domain));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theFirstOperatorReadsTheClockForAllOfThem(boolean isChained) throws Exception {
    List<OperatorSubtaskState> state;
    try (AggregateChain chain = open(isChained, null, 1_000L, 5L, 90_000L)) {
      assertThat(chain.changes(asList(1, 5L, 2), asList(2, 5L, 1)))
          .containsExactly("+I[1, 1, 1, 10]", "+I[2, 1, 1, 5]");
      setClocks(chain, 1_099, 80_000, 3);
      assertThat(chain.changes(asList(1, 5L, 1)))
          .containsExactly("-U[1, 1, 1, 10]", "+U[1, 2, 1, 15]");
      setClocks(chain, 1_100, 1, 1_000);
      assertThat(chain.changes(asList(2, 5L, 3))).containsExactly("+I[2, 1, 1, 15]");
      state = chain.snapshot();
    }
    // The machine's clock is behind that of the checkpoint.
    try (AggregateChain chain = open(isChained, state, 500L, 90_000L, 0L)) {
      assertThat(chain.changes(asList(2, 5L, 1)))
          .containsExactly("-U[2, 1, 1, 15]", "+U[2, 2, 1, 20]");
      setClocks(chain, 1_198, 0, 0);
      assertThat(chain.changes(asList(1, 7L, 1)))
          .containsExactly("-U[1, 2, 1, 15]", "+U[1, 3, 2, 22]");
      setClocks(chain, 1_200, 0, 0);
      assertThat(chain.changes(asList(1, 5L, 1), asList(2, 5L, 1)))
          .as("a value is forgotten though its key lives, and counts again")
          .containsExactly("-U[1, 3, 2, 22]", "+U[1, 4, 3, 27]", "+I[2, 1, 1, 5]");
    }
  }

  private AggregateChain open(boolean isChained, List<OperatorSubtaskState> state, Long... clocks)
      throws Exception {
    return AggregateChain.open(device, PLAN, 0, 1, state, 1, List.of(clocks), isChained);
  }

  private static void setClocks(AggregateChain chain, long... times) throws Exception {
    for (int position = 0; position < times.length; position++) {
      chain.setProcessingTime(position, times[position]);
    }
  }

  @Test
  void stateWithoutTimesIsAsIfItWereUpdatedWithTheFirstBatch() throws Exception {
    GroupAggregatePlan forever = plan(TimeDomain.PROCESSING_TIME, 0);
    List<OperatorSubtaskState> state;
    try (AggregateChain chain = open(true, null, 700L, 0L, 0L)) {
      chain.changes(asList(1, 5L, 1));
      state = chain.snapshot();
    }
    // Without a time-to-live the times are lost.
    try (AggregateChain chain = AggregateChain.open(device, forever, state)) {
      chain.changes(asList(2, 5L, 1), asList(3, 5L, 1));
      state = chain.snapshot();
    }
    try (AggregateChain chain = open(true, state, 2_000L, 3_000L, 1_000L)) {
      setClocks(chain, 2_050, 0, 0);
      assertThat(chain.changes(asList(1, 7L, 1)))
          .containsExactly("-U[1, 1, 1, 5]", "+U[1, 2, 2, 12]");
      setClocks(chain, 2_149, 90_000, 90_000);
      assertThat(chain.changes(asList(2, 5L, 1)))
          .containsExactly("-U[2, 1, 1, 5]", "+U[2, 2, 1, 10]");
      state = chain.snapshot();
      setClocks(chain, 2_150, 0, 0);
      assertThat(chain.changes(asList(3, 5L, 1))).containsExactly("+I[3, 1, 1, 5]");
    }
    try (AggregateChain chain = open(true, state, 2_149L, 0L, 0L)) {
      assertThat(chain.changes(asList(3, 7L, 1)))
          .containsExactly("-U[3, 1, 1, 5]", "+U[3, 2, 2, 12]");
    }
    // Without the operators in front, the aggregates go on with the clock of the checkpoint.
    Job counts = new Job(ROWS, List.of("k"), count()).withStateTtl(Duration.ofMillis(TTL));
    try (GroupAggregateHarness harness = counts.restoreAt(2_149, device, state.get(2))) {
      assertThat(harness.changes(asList(3, 5L, 1))).containsExactly("-U[3, 1]", "+U[3, 2]");
      harness.setProcessingTime(2_150);
      assertThat(harness.changes(asList(1, 5L, 1))).containsExactly("+I[1, 1]");
    }
  }

  @Test
  void valuesThatHaveExpiredAreRemoved() throws Exception {
    try (AggregateChain chain = AggregateChain.open(device, PLAN, null)) {
      List<List<?>> rows = new ArrayList<>();
      for (int i = 0; i < 500; i++) {
        rows.add(asList(i % 100, (long) i, 1));
      }
      chain.changes(rows.toArray(List[]::new));
      assertThat(chain.rowsInState(0)).isEqualTo(100);
      assertThat(chain.rowsInState(1)).as("values, and the null of each key").isEqualTo(600);
      assertThat(chain.rowsInState(2)).isEqualTo(100);
      for (int time = 0; time < 2 * TTL; time += 5) {
        chain.setProcessingTime(0, time);
        chain.changes(asList(7, 1L, 1));
      }
      assertThat(chain.rowsInState(0)).isEqualTo(1);
      assertThat(chain.rowsInState(1)).isEqualTo(2);
      assertThat(chain.rowsInState(2)).isEqualTo(1);
    }
  }

  /** A key since it began; the sum is null if no row had a value and a weight. */
  private record Key(long time, long rows, long values, Long sum) {
    String text(int key) {
      return String.format("[%d, %d, %d, %s]", key, rows, values, sum);
    }
  }

  /** A value of a key. */
  private record Value(int key, long value) {}

  private record Saved(
      List<OperatorSubtaskState> state,
      int parallelism,
      Map<Integer, Key> keys,
      Map<Value, Long> values,
      long clock) {}

  private final List<AggregateChain> subtasks = new ArrayList<>();
  private Map<Integer, Key> keys = new HashMap<>();
  private Map<Value, Long> values = new HashMap<>();
  // What time it is in each subtask.
  private List<Long> clocks = new ArrayList<>();
  private int forgotten;

  /** Subtasks whose clocks differ are restored with another number, again and again. */
  @ParameterizedTest
  @EnumSource(TimeDomain.class)
  void resultsAreThoseOfOneClock(TimeDomain domain) throws Exception {
    GroupAggregatePlan plan = plan(domain, TTL);
    Random numbers = random.random();
    Saved saved = null;
    long time = 1_000;
    try {
      restart(plan, null, 2, numbers, time);
      watermarks(domain, time);
      for (int step = 0; step < 700; step++) {
        time += numbers.nextInt(12);
        int choice = numbers.nextInt(30);
        if (choice == 0) {
          saved = save();
        } else if (choice == 1 && saved != null) {
          restart(plan, saved, 1 + numbers.nextInt(3), numbers, time);
        } else if (choice < 12 && domain == TimeDomain.EVENT_TIME) {
          watermarks(domain, time);
        } else {
          send(domain, numbers.nextInt(subtasks.size()), time, numbers);
        }
      }
    } finally {
      subtasks.forEach(AggregateChain::close);
    }
    assertThat(forgotten).isPositive();
  }

  private void restart(
      GroupAggregatePlan plan, Saved saved, int parallelism, Random numbers, long time)
      throws Exception {
    subtasks.forEach(AggregateChain::close);
    subtasks.clear();
    for (int subtask = 0; subtask < parallelism; subtask++) {
      List<Long> machines = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        machines.add(time + numbers.nextInt(200) - 100);
      }
      List<OperatorSubtaskState> state = saved == null ? null : saved.state;
      int before = saved == null ? 1 : saved.parallelism;
      subtasks.add(
          AggregateChain.open(
              device, plan, subtask, parallelism, state, before, machines, numbers.nextBoolean()));
    }
    keys = new HashMap<>(saved == null ? Map.of() : saved.keys);
    values = new HashMap<>(saved == null ? Map.of() : saved.values);
    long clock = saved == null ? Long.MIN_VALUE : saved.clock;
    clocks = new ArrayList<>(Collections.nCopies(parallelism, clock));
  }

  private Saved save() throws Exception {
    List<List<OperatorSubtaskState>> states = new ArrayList<>();
    for (AggregateChain chain : subtasks) {
      states.add(chain.snapshot());
    }
    return new Saved(
        AggregateChain.whole(states),
        subtasks.size(),
        new HashMap<>(keys),
        new HashMap<>(values),
        Collections.max(clocks));
  }

  private void watermarks(TimeDomain domain, long time) throws Exception {
    if (domain == TimeDomain.EVENT_TIME) {
      for (int subtask = 0; subtask < subtasks.size(); subtask++) {
        subtasks.get(subtask).watermark(time);
        clocks.set(subtask, Math.max(clocks.get(subtask), time));
      }
    }
  }

  private void send(TimeDomain domain, int subtask, long time, Random numbers) throws Exception {
    AggregateChain chain = subtasks.get(subtask);
    // The machine's clock may go back, and those of later operators do not count.
    long read = time + numbers.nextInt(40) - 20;
    setClocks(chain, read, time - 500 + numbers.nextInt(1_000), numbers.nextInt(5_000));
    List<List<?>> rows = new ArrayList<>();
    for (int i = numbers.nextInt(4); i >= 0; i--) {
      int key = numbers.nextInt(14);
      if (subtask(key) == subtask) {
        Long value = numbers.nextInt(6) == 0 ? null : (long) numbers.nextInt(3);
        rows.add(asList(key, value, numbers.nextInt(5) == 0 ? null : numbers.nextInt(9)));
      }
    }
    if (!rows.isEmpty()) {
      if (domain == TimeDomain.PROCESSING_TIME) {
        clocks.set(subtask, Math.max(clocks.get(subtask), read));
      }
      assertThat(chain.changes(rows.toArray(List[]::new)))
          .as("the changes of %s at %d with seed %d", rows, clocks.get(subtask), random.seed())
          .isEqualTo(expected(rows, clocks.get(subtask)));
    }
  }

  private int subtask(int key) {
    return KeyGroupRangeAssignment.assignKeyToParallelOperator(
        key, KeyedOperatorHarness.MAX_PARALLELISM, subtasks.size());
  }

  private List<String> expected(List<List<?>> rows, long now) {
    Map<Integer, Key> before = new LinkedHashMap<>();
    for (List<?> row : rows) {
      int key = (Integer) row.get(0);
      if (!before.containsKey(key)) {
        before.put(key, live(key, now));
      }
      add(key, (Long) row.get(1), (Integer) row.get(2), now);
    }
    List<String> changes = new ArrayList<>();
    before.forEach(
        (key, old) -> {
          String text = keys.get(key).text(key);
          changes.addAll(
              old == null ? List.of("+I" + text) : List.of("-U" + old.text(key), "+U" + text));
        });
    return changes;
  }

  private Key live(int key, long now) {
    Key known = keys.get(key);
    if (known != null && known.time + TTL <= now) {
      keys.remove(key);
      forgotten++;
      return null;
    }
    return known;
  }

  private void add(int key, Long value, Integer weight, long now) {
    Key before = keys.getOrDefault(key, new Key(now, 0, 0, null));
    boolean isNew = false;
    if (value != null) {
      Long last = values.put(new Value(key, value), now);
      isNew = last == null || last + TTL <= now;
    }
    Long sum = before.sum;
    if (value != null && weight != null) {
      sum = (sum == null ? 0 : sum) + value * weight;
    }
    keys.put(key, new Key(now, before.rows + 1, before.values + (isNew ? 1 : 0), sum));
  }
}
