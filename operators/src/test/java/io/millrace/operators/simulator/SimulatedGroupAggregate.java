// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static io.millrace.operators.aggregate.Aggregate.avg;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.GroupAggregateOperator;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.aggregate.TwoPhasePlan;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.types.RowKind;

/** Aggregates of rows, or of a changelog that takes rows back. */
final class SimulatedGroupAggregate implements SimulatedOperator {
  private static final Schema ROWS =
      Schema.of(
          Field.of("a", DataType.INT16),
          new Field("b", DataType.BOOL, false),
          Field.of("v", DataType.INT32),
          new Field("w", DataType.INT64, false));
  private static final List<String> KEYS = List.of("a", "b");
  private static final List<Aggregate> OF_CHANGES =
      List.of(count(), count("v"), sum("v"), avg("w"));
  private static final List<Aggregate> OF_ROWS =
      List.of(count(), count("v"), sum("v"), avg("w"), min("v"), max("w"));
  // Planning costs more than a small schedule.
  private static final GroupAggregatePlan PLAN_OF_CHANGES =
      plan(RowKindColumn.addTo(ROWS), OF_CHANGES);
  private static final GroupAggregatePlan PLAN_OF_ROWS = plan(ROWS, OF_ROWS);
  private static final Duration TTL = Duration.ofMillis(60);
  private static final List<TwoPhasePlan> PLANS_THAT_FORGET =
      List.of(
          twoPhases(ROWS, OF_ROWS, StateTtl.ofProcessingTime(TTL)),
          twoPhases(ROWS, OF_ROWS, StateTtl.ofEventTime(TTL)));

  private static final TwoPhasePlan TWO_PHASES_OF_CHANGES =
      twoPhases(RowKindColumn.addTo(ROWS), OF_CHANGES, StateTtl.NONE);
  private static final TwoPhasePlan TWO_PHASES_OF_ROWS = twoPhases(ROWS, OF_ROWS, StateTtl.NONE);

  private final boolean isChangelog;
  private final StateTtl stateTtl;
  // Then rows are the accumulators of a first phase.
  private final boolean isTwoPhase;
  private final int keys;
  private final int maxRows;
  private final Map<String, String> options;

  /** An operator of which {@code random} decides the details. */
  SimulatedGroupAggregate(Random random) {
    isChangelog = random.nextBoolean();
    // Rows of a forgotten key must not be taken back.
    stateTtl = isChangelog ? StateTtl.NONE : TtlClock.randomTtl(TTL, random);
    isTwoPhase = random.nextInt(3) == 0;
    boolean isLarge = random.nextInt(20) == 0;
    keys = isLarge ? 2_000 : 1 + random.nextInt(12);
    maxRows = isLarge ? 400 : 24;
    options =
        random.nextInt(4) == 0
            ? Map.of(
                "millrace.spill.device-limit",
                isLarge ? "2 mb" : "448 kb",
                "millrace.spill.host-limit",
                random.nextBoolean() ? "0 b" : "64 kb")
            : Map.of();
  }

  private static GroupAggregatePlan plan(Schema schema, List<Aggregate> aggregates) {
    return new GroupAggregatePlan(schema, KEYS, aggregates, ExpressionSettings.DEFAULT);
  }

  private static TwoPhasePlan twoPhases(Schema schema, List<Aggregate> aggregates, StateTtl ttl) {
    return new TwoPhasePlan(schema, KEYS, aggregates, ExpressionSettings.DEFAULT, ttl);
  }

  private TwoPhasePlan twoPhasePlan() {
    if (!stateTtl.isNone()) {
      return PLANS_THAT_FORGET.get(stateTtl.isEventTime() ? 1 : 0);
    }
    return isChangelog ? TWO_PHASES_OF_CHANGES : TWO_PHASES_OF_ROWS;
  }

  private GroupAggregatePlan plan() {
    if (!stateTtl.isNone()) {
      return twoPhasePlan().aggregates();
    }
    return isChangelog ? PLAN_OF_CHANGES : PLAN_OF_ROWS;
  }

  @Override
  public Schema schema() {
    return isTwoPhase ? twoPhasePlan().partials() : isChangelog ? RowKindColumn.addTo(ROWS) : ROWS;
  }

  @Override
  public Schema outputSchema() {
    return plan().outputSchema();
  }

  @Override
  public int keyColumns() {
    return KEYS.size();
  }

  @Override
  public OperatorFactory<ColumnBatch, ColumnBatch> factory() {
    return isTwoPhase
        ? GroupAggregateOperator.factory(twoPhasePlan())
        : GroupAggregateOperator.factory(plan());
  }

  @Override
  public Map<String, String> options() {
    return options;
  }

  @Override
  public StateTtl stateTtl() {
    return stateTtl;
  }

  @Override
  public RowSource newSource() {
    return new Source(new ArrayList<>());
  }

  @Override
  public KeyGroupModel newModel() {
    return new Model(new HashMap<>(), new HashMap<>(), new HashMap<>());
  }

  @Override
  public String toString() {
    return (isTwoPhase ? twoPhasePlan().toString() : plan().toString())
        + (isChangelog ? " of changes, " : " of rows, ")
        + keys
        + " keys, "
        + options;
  }

  private final class Source implements RowSource {
    // The rows that were given and not taken back; none if rows are never taken back.
    private final List<List<Object>> live;

    Source(List<List<Object>> live) {
      this.live = live;
    }

    @Override
    public List<List<Object>> nextRows(Random random) {
      List<List<Object>> rows = new ArrayList<>();
      for (int i = random.nextInt(maxRows); i > 0; i--) {
        boolean retracts = isChangelog && !live.isEmpty() && random.nextInt(5) > 1;
        List<Object> values = retracts ? remove(random.nextInt(live.size())) : values(random);
        List<Object> row = new ArrayList<>(values);
        if (isChangelog) {
          if (!retracts) {
            live.add(values);
          }
          row.add(kind(retracts, random).toByteValue());
        }
        rows.add(row);
      }
      return isTwoPhase ? partials(rows) : rows;
    }

    private List<List<Object>> partials(List<List<Object>> rows) {
      Map<List<Object>, Sums> groups = new LinkedHashMap<>();
      rows.forEach(row -> groups.merge(row.subList(0, 2), sums(row), Sums::plus));
      List<List<Object>> partials = new ArrayList<>();
      groups.forEach(
          (key, sums) -> {
            List<Object> partial = new ArrayList<>(key);
            partial.addAll(List.of(sums.rows, sums.values, sums.v, sums.w));
            if (!isChangelog) {
              // The order of signed numbers as unsigned ones; of minima the complement.
              partial.add(sums.values == 0 ? 0 : ~(sums.minimum ^ Long.MIN_VALUE));
              partial.add(sums.maximum ^ Long.MIN_VALUE);
            }
            partials.add(partial);
          });
      return partials;
    }

    private List<Object> remove(int index) {
      List<Object> last = live.remove(live.size() - 1);
      return index == live.size() ? last : live.set(index, last);
    }

    private List<Object> values(Random random) {
      boolean isLarge = random.nextInt(10) == 0;
      return Arrays.asList(
          random.nextInt(8) == 0 ? null : (short) random.nextInt(keys),
          random.nextBoolean(),
          random.nextInt(4) == 0 ? null : isLarge ? random.nextInt() : random.nextInt(9) - 4,
          isLarge ? random.nextLong() : random.nextInt(9) - 4L);
    }

    private static RowKind kind(boolean retracts, Random random) {
      return random.nextBoolean()
          ? retracts ? RowKind.DELETE : RowKind.INSERT
          : retracts ? RowKind.UPDATE_BEFORE : RowKind.UPDATE_AFTER;
    }

    @Override
    public long nextWatermark(long previous, Random random) {
      return TtlClock.nextWatermark(previous, random);
    }

    @Override
    public RowSource copy() {
      return new Source(new ArrayList<>(live));
    }
  }

  /** The sums of a key's rows. */
  private record Sums(long rows, long values, long v, long w, int minimum, long maximum) {
    static final Sums NONE = new Sums(0, 0, 0, 0, Integer.MAX_VALUE, Long.MIN_VALUE);

    static Sums of(Integer value, long wide, int sign) {
      return value == null
          ? new Sums(sign, 0, 0, sign * wide, Integer.MAX_VALUE, wide)
          : new Sums(sign, sign, (long) sign * value, sign * wide, value, wide);
    }

    Sums plus(Sums other) {
      return new Sums(
          rows + other.rows,
          values + other.values,
          v + other.v,
          w + other.w,
          Math.min(minimum, other.minimum),
          Math.max(maximum, other.maximum));
    }
  }

  private Sums sums(List<Object> row) {
    boolean retracts =
        isChangelog
            && (row.get(4).equals(RowKind.DELETE.toByteValue())
                || row.get(4).equals(RowKind.UPDATE_BEFORE.toByteValue()));
    return Sums.of((Integer) row.get(2), (long) row.get(3), retracts ? -1 : 1);
  }

  private Sums sumsOfPartial(List<Object> row) {
    long values = (long) row.get(3);
    boolean hasMinimum = !isChangelog && values > 0;
    return new Sums(
        (long) row.get(2),
        values,
        (long) row.get(4),
        (long) row.get(5),
        hasMinimum ? (int) (~(long) row.get(6) ^ Long.MIN_VALUE) : Integer.MAX_VALUE,
        isChangelog ? Long.MIN_VALUE : (long) row.get(7) ^ Long.MIN_VALUE);
  }

  private final class Model extends ForgetfulModel {
    private final Map<List<Object>, Sums> sums;
    private final Map<List<Object>, List<Object>> results;
    // When the last row of a key came.
    private final Map<List<Object>, Long> times;

    Model(
        Map<List<Object>, Sums> sums,
        Map<List<Object>, List<Object>> results,
        Map<List<Object>, Long> times) {
      super(stateTtl);
      this.sums = sums;
      this.results = results;
      this.times = times;
    }

    @Override
    public void process(List<Object> row) {
      List<Object> key = new ArrayList<>(row.subList(0, 2));
      if (sums.containsKey(key) && clock.hasExpired(times.get(key))) {
        sums.remove(key);
        results.remove(key);
      }
      times.put(key, clock.now());
      Sums before = sums.getOrDefault(key, Sums.NONE);
      Sums after = before.plus(isTwoPhase ? sumsOfPartial(row) : sums(row));
      if (after.rows == 0) {
        sums.remove(key);
      } else {
        sums.put(key, after);
      }
    }

    @Override
    public void emitted(List<Object> row) {
      List<Object> key = row.subList(0, 2);
      List<Object> values = row.subList(2, row.size() - 1);
      switch (RowKind.fromByteValue((Byte) row.get(row.size() - 1))) {
        case INSERT -> assertThat(results.put(key, values)).as("row before +I of %s", key).isNull();
        case UPDATE_BEFORE -> assertThat(values).as("-U of %s", key).isEqualTo(results.get(key));
        case UPDATE_AFTER ->
            assertThat(results.put(key, values)).as("row before +U of %s", key).isNotNull();
        case DELETE -> assertThat(values).as("-D of %s", key).isEqualTo(results.remove(key));
      }
    }

    @Override
    public void check() {
      Map<List<Object>, List<Object>> expected = new HashMap<>();
      sums.forEach((key, value) -> expected.put(key, result(value)));
      assertThat(results).isEqualTo(expected);
    }

    private List<Object> result(Sums value) {
      boolean hasValues = value.values > 0;
      List<Object> result = new ArrayList<>();
      result.add(value.rows);
      result.add(value.values);
      result.add(hasValues ? (int) value.v : null);
      result.add(value.w / value.rows);
      if (!isChangelog) {
        result.add(hasValues ? value.minimum : null);
        result.add(value.maximum);
      }
      return result;
    }

    @Override
    public KeyGroupModel copy() {
      return new Model(new HashMap<>(sums), new HashMap<>(results), new HashMap<>(times));
    }
  }
}
