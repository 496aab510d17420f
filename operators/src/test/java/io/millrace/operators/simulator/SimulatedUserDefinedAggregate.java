// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.aggregate.WeightedSum;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.types.RowKind;

/**
 * A function of the user over a changelog, which takes rows back, also before they come, and
 * perhaps forgets keys. All rows of a key are equal, so that a key without rows has the
 * accumulators that it begins with.
 */
final class SimulatedUserDefinedAggregate extends SimulatedArgument {
  private static final Schema ROWS =
      RowKindColumn.addTo(
          Schema.of(
              new Field("k", DataType.INT16, false),
              Field.of("x", DataType.INT64),
              Field.of("w", DataType.INT32)));
  private static final int WEIGHT = 3;
  private static final Plans PLANS = Plans.of(SimulatedUserDefinedAggregate::plan);

  /** An operator of which {@code random} decides the details. */
  SimulatedUserDefinedAggregate(Random random) {
    super(PLANS, 20, random);
  }

  private static GroupAggregatePlan plan(StateTtl stateTtl) {
    return new GroupAggregatePlan(
        ROWS,
        List.of("k"),
        List.of(Aggregate.of(new WeightedSum(), "x", "w")),
        ExpressionSettings.DEFAULT,
        stateTtl);
  }

  @Override
  public Schema schema() {
    return ROWS;
  }

  @Override
  public RowSource newSource() {
    return new Source();
  }

  @Override
  public KeyGroupModel newModel() {
    return new Model(new HashMap<>(), new HashMap<>());
  }

  private final class Source implements RowSource {
    @Override
    public List<List<Object>> nextRows(Random random) {
      List<List<Object>> rows = new ArrayList<>();
      for (int i = random.nextInt(24); i > 0; i--) {
        short key = (short) random.nextInt(keys);
        byte kind = (byte) random.nextInt(RowKind.values().length);
        rows.add(List.of(key, value(key), WEIGHT, kind));
      }
      return rows;
    }

    @Override
    public long nextWatermark(long previous, Random random) {
      return TtlClock.nextWatermark(previous, random);
    }

    @Override
    public RowSource copy() {
      return new Source();
    }
  }

  private static long value(Object key) {
    return 7L * (Short) key + 1;
  }

  /** The rows of a key, and when the last one came. */
  private record Count(int rows, long time) {}

  private final class Model extends ForgetfulModel {
    private final Map<Object, Count> counts;
    // The last result that was added for a key, if it has rows.
    private final Map<Object, Object> results;

    Model(Map<Object, Count> counts, Map<Object, Object> results) {
      super(stateTtl);
      this.counts = counts;
      this.results = results;
    }

    @Override
    public void process(List<Object> row) {
      RowKind kind = RowKind.fromByteValue((Byte) row.get(3));
      boolean isAdded = kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER;
      Count before = counts.get(row.get(0));
      boolean begins = before == null || clock.hasExpired(before.time);
      int rows = (begins ? 0 : before.rows) + (isAdded ? 1 : -1);
      counts.put(row.get(0), new Count(rows, clock.now()));
    }

    @Override
    public void emitted(List<Object> row) {
      boolean isInput = row.get(2) != null;
      if (isInput) {
        return;
      }
      boolean hasRows = (Boolean) row.get(4);
      if (hasRows) {
        results.put(row.get(0), row.get(3));
      } else {
        results.remove(row.get(0));
      }
    }

    @Override
    public void check() {
      Map<Object, Object> expected = new HashMap<>();
      counts.forEach(
          (key, count) -> {
            if (count.rows != 0) {
              expected.put(key, value(key) * count.rows * WEIGHT);
            }
          });
      assertThat(results).isEqualTo(expected);
    }

    @Override
    public KeyGroupModel copy() {
      return new Model(new HashMap<>(counts), new HashMap<>(results));
    }
  }
}
