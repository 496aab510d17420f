// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.ArgumentOperator;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.row.RowKindColumn;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Random;
import java.util.TreeMap;
import org.apache.flink.types.RowKind;

/**
 * The smallest and the largest value of each key of a changelog, which takes rows back, also before
 * they come.
 */
final class SimulatedExtremes implements SimulatedOperator {
  private static final Schema ROWS =
      RowKindColumn.addTo(
          Schema.of(new Field("k", DataType.INT16, false), Field.of("s", DataType.STRING)));
  // Planning costs more than a small schedule.
  private static final GroupAggregatePlan PLAN =
      new GroupAggregatePlan(
          ROWS, List.of("k"), List.of(min("s"), max("s")), ExpressionSettings.DEFAULT);

  private final int keys;
  private final int values;
  private final int maxLength;
  private final Map<String, String> options;

  /** An operator of which {@code random} decides the details. */
  SimulatedExtremes(Random random) {
    keys = 1 + random.nextInt(12);
    values = 1 + random.nextInt(10);
    maxLength = 1 + random.nextInt(15);
    options =
        random.nextInt(4) == 0
            ? Map.of(
                "millrace.spill.device-limit",
                "4 mb",
                "millrace.spill.host-limit",
                random.nextBoolean() ? "0 b" : "64 kb")
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
        String text = Integer.toString(random.nextInt(values)).repeat(maxLength);
        rows.add(
            Arrays.asList(
                (short) random.nextInt(keys),
                random.nextInt(5) == 0 ? null : text,
                (byte) random.nextInt(RowKind.values().length)));
      }
      return rows;
    }

    @Override
    public RowSource copy() {
      return new Source();
    }
  }

  private static final class Model implements KeyGroupModel {
    private final Map<Object, NavigableMap<String, Integer>> counts;
    // The last row that was added for a key, if it has values.
    private final Map<Object, List<Object>> results;

    Model(Map<Object, NavigableMap<String, Integer>> counts, Map<Object, List<Object>> results) {
      this.counts = counts;
      this.results = results;
    }

    @Override
    public void process(List<Object> row) {
      RowKind kind = RowKind.fromByteValue((Byte) row.get(2));
      boolean isAdded = kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER;
      if (row.get(1) != null) {
        counts
            .computeIfAbsent(row.get(0), absent -> new TreeMap<>())
            .merge((String) row.get(1), isAdded ? 1 : -1, Integer::sum);
      }
    }

    @Override
    public void emitted(List<Object> row) {
      boolean isInput = row.get(2) != null;
      if (isInput) {
        return;
      }
      boolean hasValues = (Boolean) row.get(5);
      if (hasValues) {
        results.put(row.get(0), List.of(row.get(4), row.get(6)));
      } else {
        results.remove(row.get(0));
      }
    }

    @Override
    public void check() {
      Map<Object, List<Object>> expected = new HashMap<>();
      counts.forEach(
          (key, values) -> {
            List<String> present =
                values.keySet().stream().filter(value -> values.get(value) > 0).toList();
            if (!present.isEmpty()) {
              expected.put(key, List.of(present.get(0), present.get(present.size() - 1)));
            }
          });
      assertThat(results).isEqualTo(expected);
    }

    @Override
    public KeyGroupModel copy() {
      Map<Object, NavigableMap<String, Integer>> copies = new HashMap<>();
      counts.forEach((key, values) -> copies.put(key, new TreeMap<>(values)));
      return new Model(copies, new HashMap<>(results));
    }
  }
}
