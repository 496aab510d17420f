// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
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
 * they come, and perhaps forgets values.
 */
final class SimulatedExtremes extends SimulatedArgument {
  private static final Schema ROWS =
      RowKindColumn.addTo(
          Schema.of(new Field("k", DataType.INT16, false), Field.of("s", DataType.STRING)));
  private static final Plans PLANS = Plans.of(SimulatedExtremes::plan);

  private final int values;
  private final int maxLength;

  /** An operator of which {@code random} decides the details. */
  SimulatedExtremes(Random random) {
    super(PLANS, 12, random);
    values = 1 + random.nextInt(10);
    maxLength = 1 + random.nextInt(15);
  }

  private static GroupAggregatePlan plan(StateTtl stateTtl) {
    return new GroupAggregatePlan(
        ROWS, List.of("k"), List.of(min("s"), max("s")), ExpressionSettings.DEFAULT, stateTtl);
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
    return new Model(new HashMap<>(), new HashMap<>(), new HashMap<>());
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
    public long nextWatermark(long previous, Random random) {
      return TtlClock.nextWatermark(previous, random);
    }

    @Override
    public RowSource copy() {
      return new Source();
    }
  }

  /** The rows of a value, and when the last one came. */
  private record Count(int rows, long time) {}

  private final class Model extends ForgetfulModel {
    private final Map<Object, NavigableMap<String, Count>> counts;
    // Behind the last row of each key, if it had values then.
    private final Map<Object, List<Object>> expected;
    // The last row that was added for a key, if it has values.
    private final Map<Object, List<Object>> results;

    Model(
        Map<Object, NavigableMap<String, Count>> counts,
        Map<Object, List<Object>> expected,
        Map<Object, List<Object>> results) {
      super(stateTtl);
      this.counts = counts;
      this.expected = expected;
      this.results = results;
    }

    @Override
    public void process(List<Object> row) {
      RowKind kind = RowKind.fromByteValue((Byte) row.get(2));
      boolean isAdded = kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER;
      NavigableMap<String, Count> values =
          counts.computeIfAbsent(row.get(0), absent -> new TreeMap<>());
      values.values().removeIf(count -> clock.hasExpired(count.time));
      if (row.get(1) != null) {
        Count before = values.get(row.get(1));
        int rows = (before == null ? 0 : before.rows) + (isAdded ? 1 : -1);
        values.put((String) row.get(1), new Count(rows, clock.now()));
      }
      List<String> present =
          values.keySet().stream().filter(value -> values.get(value).rows > 0).toList();
      if (present.isEmpty()) {
        expected.remove(row.get(0));
      } else {
        expected.put(row.get(0), List.of(present.get(0), present.get(present.size() - 1)));
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
      assertThat(results).isEqualTo(expected);
    }

    @Override
    public KeyGroupModel copy() {
      Map<Object, NavigableMap<String, Count>> copies = new HashMap<>();
      counts.forEach((key, values) -> copies.put(key, new TreeMap<>(values)));
      return new Model(copies, new HashMap<>(expected), new HashMap<>(results));
    }
  }
}
