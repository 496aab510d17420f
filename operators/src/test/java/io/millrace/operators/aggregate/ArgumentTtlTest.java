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
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
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
    // Without the operators in front, the aggregates continue with the clock of the checkpoint.
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

  /** Subtasks whose clocks differ are restored with another number, again and again. */
  @ParameterizedTest
  @EnumSource(TimeDomain.class)
  void resultsAreThoseOfOneClock(TimeDomain domain) throws Exception {
    TtlSchedule schedule =
        new TtlSchedule(device, plan(domain, TTL), domain, new Model(Map.of(), Map.of()), random);
    assertThat(schedule.play(700)).as("keys that began").isGreaterThan(30);
  }

  /** A key since it began; the sum is null if no row had a value and a weight. */
  private record Key(long time, long rows, long values, Long sum) {
    String text(int key) {
      return String.format("[%d, %d, %d, %s]", key, rows, values, sum);
    }
  }

  /** A value of a key. */
  private record Value(int key, long value) {}

  private static final class Model implements TtlSchedule.Model {
    private final Map<Integer, Key> keys;
    // When a value of a key came last.
    private final Map<Value, Long> values;

    Model(Map<Integer, Key> keys, Map<Value, Long> values) {
      this.keys = new HashMap<>(keys);
      this.values = new HashMap<>(values);
    }

    @Override
    public TtlSchedule.Model copy() {
      return new Model(keys, values);
    }

    @Override
    public List<?> nextRow(int key, long now, Random numbers) {
      Long value = numbers.nextInt(6) == 0 ? null : (long) numbers.nextInt(3);
      return asList(key, value, numbers.nextInt(5) == 0 ? null : numbers.nextInt(9));
    }

    @Override
    public List<String> changes(List<List<?>> rows, long now) {
      Map<Integer, Key> before = new LinkedHashMap<>();
      for (List<?> row : rows) {
        int key = (Integer) row.get(0);
        if (!before.containsKey(key)) {
          keys.computeIfPresent(key, (k, known) -> known.time + TTL <= now ? null : known);
          before.put(key, keys.get(key));
        }
        add(key, (Long) row.get(1), (Integer) row.get(2), now);
      }
      List<String> changes = new ArrayList<>();
      before.forEach(
          (key, old) -> {
            if (old != null) {
              changes.add("-U" + old.text(key));
            }
            changes.add((old == null ? "+I" : "+U") + keys.get(key).text(key));
          });
      return changes;
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
}
