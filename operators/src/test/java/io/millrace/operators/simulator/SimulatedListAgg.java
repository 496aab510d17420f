// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static io.millrace.operators.aggregate.Aggregate.listAgg;
import static io.millrace.operators.aggregate.Aggregate.max;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.GroupAggregateOperator;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.types.RowKind;

/** Strings that grow with each row, beside one that is replaced. */
final class SimulatedListAgg implements SimulatedOperator {
  private static final Schema ROWS =
      Schema.of(new Field("k", DataType.INT16, false), Field.of("s", DataType.STRING));
  private static final String SEPARATOR = "; ";
  // Planning costs more than a small schedule.
  private static final GroupAggregatePlan PLAN =
      new GroupAggregatePlan(
          ROWS,
          List.of("k"),
          List.of(listAgg("s"), max("s"), listAgg("s", SEPARATOR)),
          ExpressionSettings.DEFAULT);

  private final int keys;
  private final int maxLength;
  private final Map<String, String> options;

  /** An operator of which {@code random} decides the details. */
  SimulatedListAgg(Random random) {
    keys = 1 + random.nextInt(12);
    maxLength = 1 + random.nextInt(30);
    options =
        random.nextInt(4) == 0
            ? Map.of(
                "millrace.spill.device-limit",
                "2 mb",
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
    return PLAN.outputSchema();
  }

  @Override
  public int keyColumns() {
    return 1;
  }

  @Override
  public OperatorFactory<ColumnBatch, ColumnBatch> factory() {
    return GroupAggregateOperator.factory(PLAN);
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
    return PLAN + ", " + keys + " keys, " + options;
  }

  private final class Source implements RowSource {
    @Override
    public List<List<Object>> nextRows(Random random) {
      List<List<Object>> rows = new ArrayList<>();
      for (int i = random.nextInt(24); i > 0; i--) {
        String text = Integer.toString(random.nextInt(100)).repeat(random.nextInt(maxLength));
        rows.add(Arrays.asList((short) random.nextInt(keys), random.nextInt(5) == 0 ? null : text));
      }
      return rows;
    }

    @Override
    public RowSource copy() {
      return new Source();
    }
  }

  private static final class Model implements KeyGroupModel {
    private final Map<Object, List<String>> values;
    private final Map<Object, List<Object>> results;

    Model(Map<Object, List<String>> values, Map<Object, List<Object>> results) {
      this.values = values;
      this.results = results;
    }

    @Override
    public void process(List<Object> row) {
      List<String> after = new ArrayList<>(values.getOrDefault(row.get(0), List.of()));
      if (row.get(1) != null) {
        after.add((String) row.get(1));
      }
      values.put(row.get(0), after);
    }

    @Override
    public void emitted(List<Object> row) {
      Object key = row.get(0);
      List<Object> result = row.subList(1, row.size() - 1);
      switch (RowKind.fromByteValue((Byte) row.get(row.size() - 1))) {
        case INSERT -> assertThat(results.put(key, result)).as("row before +I of %s", key).isNull();
        case UPDATE_BEFORE -> assertThat(result).as("-U of %s", key).isEqualTo(results.get(key));
        case UPDATE_AFTER ->
            assertThat(results.put(key, result)).as("row before +U of %s", key).isNotNull();
        case DELETE -> throw new AssertionError("-D of " + key);
      }
    }

    @Override
    public void check() {
      Map<Object, List<Object>> expected = new HashMap<>();
      values.forEach((key, list) -> expected.put(key, result(list)));
      assertThat(results).isEqualTo(expected);
    }

    private static List<Object> result(List<String> list) {
      return list.isEmpty()
          ? Arrays.asList(null, null, null)
          : List.of(
              String.join(",", list),
              list.stream().max(String::compareTo).orElseThrow(),
              String.join(SEPARATOR, list));
    }

    @Override
    public KeyGroupModel copy() {
      return new Model(new HashMap<>(values), new HashMap<>(results));
    }
  }
}
