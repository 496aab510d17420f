// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.TimeDomain;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** MIN and MAX of a changelog, whose values are forgotten. */
@ExtendWith(NothingHeldExtension.class)
class ExtremesTtlTest {
  private static final int TTL = 100;
  private static final byte INSERT = RowKind.INSERT.toByteValue();
  private static final byte DELETE = RowKind.DELETE.toByteValue();
  private static final Schema ROWS =
      RowKindColumn.addTo(
          Schema.of(new Field("k", DataType.INT32, false), Field.of("x", DataType.STRING)));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static GroupAggregatePlan plan(TimeDomain domain, Aggregate... aggregates) {
    return new GroupAggregatePlan(
        ROWS,
        List.of("k"),
        List.of(aggregates),
        ExpressionSettings.DEFAULT,
        new StateTtl(Duration.ofMillis(TTL), domain));
  }

  private static final GroupAggregatePlan PLAN =
      plan(TimeDomain.PROCESSING_TIME, min("x"), max("x"));

  private static final GroupAggregatePlan MAX = plan(TimeDomain.PROCESSING_TIME, max("x"));

  @OutOfMemoryTest
  void theValuesThatLiveAreLookedAtWhenAnExtremeWasForgotten() throws Exception {
    try (ArgumentHarness harness = ArgumentHarness.open(device, MAX, null, 1, 2)) {
      harness.setProcessingTime(1_000);
      harness.send(0, List.of(asList(1, "y", INSERT)));
      harness.setProcessingTime(1_100);
      assertThat(harness.takeAdded()).containsExactly(asList(1, "y", true));
      assertThat(harness.added(asList(1, "d", INSERT))).containsExactly(asList(1, "d", true));
    }
  }

  @Test
  void aValueIsForgottenBehindItsLastRow() throws Exception {
    List<OperatorSubtaskState> state;
    try (AggregateChain chain = AggregateChain.open(device, PLAN, null)) {
      chain.setProcessingTime(0, 1_000);
      assertThat(chain.changes(asList(1, "b", INSERT), asList(1, "y", INSERT)))
          .containsExactly("+I[1, b, y]");
      chain.setProcessingTime(0, 1_060);
      assertThat(chain.changes(asList(1, "d", INSERT), asList(1, "f", INSERT)))
          .containsExactly("-U[1, b, y]", "+U[1, b, y]");
      chain.setProcessingTime(0, 1_100);
      assertThat(chain.changes(asList(1, null, INSERT)))
          .as("a row without a value lets the key look at its values")
          .containsExactly("-U[1, b, y]", "+U[1, d, f]");
      state = chain.snapshot();
    }
    try (AggregateChain chain = AggregateChain.open(device, PLAN, state)) {
      chain.setProcessingTime(0, 1_159);
      assertThat(chain.changes(asList(1, "d", DELETE)))
          .containsExactly("-U[1, d, f]", "+U[1, f, f]");
      chain.setProcessingTime(0, 1_160);
      assertThat(chain.changes(asList(1, null, INSERT)))
          .containsExactly("-U[1, f, f]", "+U[1, null, null]");
      chain.setProcessingTime(0, 1_260);
      assertThat(chain.changes(asList(1, "f", INSERT))).containsExactly("+I[1, f, f]");
    }
  }

  @Test
  void valuesWithoutTimesAreAsIfTheyWereUpdatedWithTheFirstBatch() throws Exception {
    GroupAggregatePlan forever =
        new GroupAggregatePlan(
            ROWS, List.of("k"), List.of(min("x"), max("x")), ExpressionSettings.DEFAULT);
    List<OperatorSubtaskState> state;
    try (AggregateChain chain = AggregateChain.open(device, forever, null)) {
      chain.changes(asList(1, "b", INSERT), asList(1, "y", INSERT));
      state = chain.snapshot();
    }
    List<Long> clocks = List.of(1_990L, 90_000L);
    try (AggregateChain chain = AggregateChain.open(device, PLAN, 0, 1, state, 1, clocks, true)) {
      chain.setProcessingTime(0, 2_000);
      assertThat(chain.changes(asList(2, "q", INSERT))).containsExactly("+I[2, q, q]");
      chain.setProcessingTime(0, 2_099);
      assertThat(chain.changes(asList(1, "c", INSERT)))
          .containsExactly("-U[1, b, y]", "+U[1, b, y]");
      chain.setProcessingTime(0, 2_100);
      assertThat(chain.changes(asList(1, null, INSERT)))
          .containsExactly("-U[1, b, y]", "+U[1, c, c]");
    }
  }

  @Test
  void extremesOfKeysThatWereRemovedAreForgotten() throws Exception {
    try (AggregateChain chain = AggregateChain.open(device, PLAN, null)) {
      List<List<?>> rows = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        rows.add(asList(i % 100, "value " + i, INSERT));
      }
      chain.changes(rows.toArray(List[]::new));
      assertThat(chain.rowsInState(0)).isEqualTo(300);
      assertThat(chain.keysWithExtremes(0)).isEqualTo(100);
      for (int time = 0; time < 2 * TTL; time += 5) {
        chain.setProcessingTime(0, time);
        chain.changes(asList(7, "value 7", INSERT));
      }
      assertThat(chain.rowsInState(0)).isEqualTo(1);
      assertThat(chain.keysWithExtremes(0)).isEqualTo(1);
      assertThat(chain.changes(asList(7, "value 6", INSERT)))
          .last()
          .isEqualTo("+U[7, value 6, value 7]");
    }
  }

  /** Subtasks whose clocks differ are restored with another number, again and again. */
  @ParameterizedTest
  @EnumSource(TimeDomain.class)
  void extremesAreThoseOfTheValuesThatLive(TimeDomain domain) throws Exception {
    GroupAggregatePlan plan = plan(domain, count(), count("x").distinct(), min("x"), max("x"));
    TtlSchedule schedule =
        new TtlSchedule(device, plan, domain, new Model(Map.of(), Map.of(), Map.of()), random);
    assertThat(schedule.play(700)).as("keys that began").isGreaterThan(30);
  }

  /** The rows of a key since it began, and the different values that it counts. */
  private record Key(long time, int rows, int values) {}

  /** A value of a key, or null. */
  private record Value(int key, String value) {}

  /** The rows of a value, and when the last one came. */
  private record Count(long time, int rows) {}

  private static final class Model implements TtlSchedule.Model {
    private final Map<Integer, Key> keys;
    private final Map<Value, Count> values;
    // What came out last, of keys that are present.
    private final Map<Integer, String> results;
    // Values of which the next batch takes a row back.
    private final Set<Value> takenBack = new HashSet<>();

    Model(Map<Integer, Key> keys, Map<Value, Count> values, Map<Integer, String> results) {
      this.keys = new HashMap<>(keys);
      this.values = new HashMap<>(values);
      this.results = new HashMap<>(results);
    }

    @Override
    public TtlSchedule.Model copy() {
      return new Model(keys, values, results);
    }

    // Rows that are forgotten are not taken back.
    @Override
    public List<?> nextRow(int key, long now, Random numbers) {
      int number = numbers.nextInt(6);
      String value = number == 0 ? null : "x".repeat(3 * number) + number;
      boolean isLive = rows(new Value(key, value), now) > 0;
      boolean isTakenBack =
          isLive && numbers.nextInt(3) == 0 && takenBack.add(new Value(key, value));
      return asList(key, value, isTakenBack ? DELETE : INSERT);
    }

    private int rows(Value value, long now) {
      Count count = values.get(value);
      return count == null || count.time + TTL <= now ? 0 : count.rows;
    }

    @Override
    public List<String> changes(List<List<?>> rows, long now) {
      takenBack.clear();
      Set<Integer> changed = new LinkedHashSet<>();
      for (List<?> row : rows) {
        int key = (Integer) row.get(0);
        if (changed.add(key) && keys.containsKey(key) && keys.get(key).time + TTL <= now) {
          keys.remove(key);
          results.remove(key);
        }
        add(new Value(key, (String) row.get(1)), row.get(2).equals(DELETE) ? -1 : 1, now);
      }
      List<String> changes = new ArrayList<>();
      changed.forEach(key -> addChanges(key, now, changes));
      return changes;
    }

    private void add(Value value, int sign, long now) {
      int before = rows(value, now);
      int after = before + sign;
      values.put(value, new Count(now, after));
      boolean isSame = value.value == null || (before == 0) == (after == 0);
      Key known = keys.getOrDefault(value.key, new Key(now, 0, 0));
      int distinct = known.values + (isSame ? 0 : sign);
      keys.put(value.key, new Key(now, known.rows + sign, distinct));
    }

    private void addChanges(int key, long now, List<String> changes) {
      String before = results.remove(key);
      Key known = keys.get(key);
      if (known.rows == 0) {
        if (before != null) {
          changes.add("-D" + before);
        }
        return;
      }
      String after = text(key, known, now);
      results.put(key, after);
      if (before != null) {
        changes.add("-U" + before);
      }
      changes.add((before == null ? "+I" : "+U") + after);
    }

    private String text(int key, Key known, long now) {
      List<String> live =
          values.keySet().stream()
              .filter(value -> value.key == key && rows(value, now) > 0)
              .map(Value::value)
              .filter(Objects::nonNull)
              .sorted()
              .toList();
      String least = live.isEmpty() ? null : live.get(0);
      String largest = live.isEmpty() ? null : live.get(live.size() - 1);
      return asList(key, known.rows, known.values, least, largest).toString();
    }
  }
}
