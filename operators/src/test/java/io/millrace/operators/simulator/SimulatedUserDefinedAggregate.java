// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.Aggregate;
import io.millrace.operators.aggregate.ArgumentOperator;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.aggregate.WeightedSum;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.row.RowKindColumn;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.types.RowKind;

/**
 * A function of the user over a changelog, which takes rows back, also before they come. All rows
 * of a key are equal, so that a key without rows has the accumulators that it begins with.
 */
final class SimulatedUserDefinedAggregate implements SimulatedOperator {
  private static final Schema ROWS =
      RowKindColumn.addTo(
          Schema.of(
              new Field("k", DataType.INT16, false),
              Field.of("x", DataType.INT64),
              Field.of("w", DataType.INT32)));
  private static final int WEIGHT = 3;
  // Planning costs more than a small schedule.
  private static final GroupAggregatePlan PLAN =
      new GroupAggregatePlan(
          ROWS,
          List.of("k"),
          List.of(Aggregate.of(new WeightedSum(), "x", "w")),
          ExpressionSettings.DEFAULT);

  private final int keys;
  private final Map<String, String> options;

  /** An operator of which {@code random} decides the details. */
  SimulatedUserDefinedAggregate(Random random) {
    keys = 1 + random.nextInt(20);
    options =
        random.nextInt(4) == 0
            ? Map.of("millrace.spill.device-limit", "4 mb", "millrace.spill.host-limit", "64 kb")
            : Map.of();
  }

  @Override
  public Schema schema() {
    return ROWS;
  }

  @Override
  public Schema outputSchema() {
    return PLAN.argumentSchema();
  }

  @Override
  public int keyColumns() {
    return 1;
  }

  @Override
  public OperatorFactory<ColumnBatch, ColumnBatch> factory() {
    return ArgumentOperator.factory(PLAN, 0);
  }

  @Override
  public Map<String, String> options() {
    return options;
  }

  @Override
  public RowSource newSource() {
    return new Source();
  }

  @Override
  public KeyGroupModel newModel() {
    return new Model(new HashMap<>(), new HashMap<>());
  }

  @Override
  public String toString() {
    return PLAN.keptArguments() + ", " + keys + " keys, " + options;
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
    public RowSource copy() {
      return new Source();
    }
  }

  private static long value(Object key) {
    return 7L * (Short) key + 1;
  }

  private static final class Model implements KeyGroupModel {
    private final Map<Object, Integer> counts;
    // The last result that was added for a key, if it has rows.
    private final Map<Object, Object> results;

    Model(Map<Object, Integer> counts, Map<Object, Object> results) {
      this.counts = counts;
      this.results = results;
    }

    @Override
    public void process(List<Object> row) {
      RowKind kind = RowKind.fromByteValue((Byte) row.get(3));
      boolean isAdded = kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER;
      counts.merge(row.get(0), isAdded ? 1 : -1, Integer::sum);
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
            if (count != 0) {
              expected.put(key, count * WEIGHT * value(key));
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
