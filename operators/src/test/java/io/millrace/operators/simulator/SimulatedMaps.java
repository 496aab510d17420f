// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.process.MapCommands;
import io.millrace.operators.process.ProcessOperator;
import io.millrace.operators.process.ProcessPlan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;

/** A function that keeps a value and a map for each key. */
final class SimulatedMaps implements SimulatedOperator {
  private static final String[] COMMANDS = {
    MapCommands.PUT,
    MapCommands.PUT,
    MapCommands.PUT,
    MapCommands.REMOVE,
    MapCommands.GET,
    MapCommands.GET,
    MapCommands.ENTRIES,
    MapCommands.CLEAR
  };
  private static final List<ProcessPlan> PLANS =
      Stream.of(true, false).map(MapCommands::planWithSmallLimits).toList();

  private final ProcessPlan plan;
  private final int keys;

  /** An operator of which {@code random} decides the details. */
  SimulatedMaps(Random random) {
    plan = PLANS.get(random.nextInt(PLANS.size()));
    keys = 1 + random.nextInt(20);
  }

  @Override
  public Schema schema() {
    return MapCommands.ROWS;
  }

  @Override
  public Schema outputSchema() {
    return plan.outputSchema();
  }

  @Override
  public int keyColumns() {
    return 1;
  }

  @Override
  public OperatorFactory<ColumnBatch, ColumnBatch> factory() {
    return ProcessOperator.factory(plan);
  }

  @Override
  public Map<String, String> options() {
    return Map.of();
  }

  @Override
  public boolean needsEqualWatermarks() {
    return false;
  }

  @Override
  public RowSource newSource() {
    return new Source();
  }

  @Override
  public KeyGroupModel newModel() {
    return new Model(new MapCommands.Model(), new HashMap<>(), new HashMap<>());
  }

  @Override
  public String toString() {
    return plan + ", " + keys + " keys";
  }

  private final class Source implements RowSource {
    @Override
    public List<List<Object>> nextRows(Random random) {
      return Stream.generate(() -> row(random)).limit(random.nextInt(20)).toList();
    }

    private List<Object> row(Random random) {
      String text = "a string of more than 12 bytes".substring(random.nextInt(30));
      return Arrays.asList(
          "key" + random.nextInt(keys),
          COMMANDS[random.nextInt(COMMANDS.length)],
          random.nextInt(4) == 0 ? null : "map key of many bytes".substring(random.nextInt(3) * 8),
          random.nextInt(3),
          random.nextInt(4) == 0 ? null : text);
    }

    @Override
    public RowSource copy() {
      return this;
    }
  }

  private record Model(
      MapCommands.Model maps,
      Map<Object, List<List<Object>>> expected,
      Map<Object, List<List<Object>>> emitted)
      implements KeyGroupModel {

    @Override
    public void process(List<Object> row) {
      List<Object> answer = maps.process(row);
      if (answer != null) {
        add(expected, answer);
      }
    }

    private static void add(Map<Object, List<List<Object>>> rows, List<Object> row) {
      rows.computeIfAbsent(row.get(0), absent -> new ArrayList<>()).add(new ArrayList<>(row));
    }

    @Override
    public void emitted(List<Object> row) {
      add(emitted, row);
    }

    @Override
    public void check() {
      assertThat(emitted).isEqualTo(expected);
    }

    @Override
    public KeyGroupModel copy() {
      return new Model(maps.copy(), copy(expected), copy(emitted));
    }

    private static Map<Object, List<List<Object>>> copy(Map<Object, List<List<Object>>> rows) {
      Map<Object, List<List<Object>>> copy = new HashMap<>();
      rows.forEach((key, of) -> copy.put(key, new ArrayList<>(of)));
      return copy;
    }
  }
}
