// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.process.CommandModel;
import io.millrace.operators.process.ListCommands;
import io.millrace.operators.process.MapCommands;
import io.millrace.operators.process.ProcessOperator;
import io.millrace.operators.process.ProcessPlan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** A function that keeps a map or a list for each key. */
final class SimulatedEntries implements SimulatedOperator {
  private static final String TEXT = "a string of more than 12 bytes";
  private static final String[] MAP_COMMANDS = {
    MapCommands.PUT,
    MapCommands.PUT,
    MapCommands.PUT,
    MapCommands.REMOVE,
    MapCommands.GET,
    MapCommands.GET,
    MapCommands.ENTRIES,
    MapCommands.CLEAR
  };
  private static final String[] LIST_COMMANDS = {
    ListCommands.ADD,
    ListCommands.ADD,
    ListCommands.ADD,
    ListCommands.GET,
    ListCommands.GET,
    ListCommands.REPLACE,
    ListCommands.CLEAR
  };

  /** A function and what it gets. */
  private record Job(
      ProcessPlan plan,
      Schema schema,
      BiFunction<Integer, Random, List<Object>> row,
      Supplier<CommandModel> model) {

    static Job ofMaps(boolean isRequested, boolean hasValues) {
      return new Job(
          MapCommands.planWithSmallLimits(isRequested, hasValues),
          MapCommands.ROWS,
          SimulatedEntries::mapCommand,
          () -> new MapCommands.Model(hasValues));
    }

    static Job ofLists(boolean isRequested) {
      return new Job(
          ListCommands.planWithSmallLimits(isRequested),
          ListCommands.ROWS,
          SimulatedEntries::listCommand,
          ListCommands.Model::new);
    }
  }

  // Planning costs more than a small schedule.
  private static final List<Job> JOBS =
      List.of(
          Job.ofMaps(true, true),
          Job.ofMaps(false, true),
          Job.ofMaps(true, false),
          Job.ofLists(true),
          Job.ofLists(false));

  private final Job job;
  private final int keys;

  /** An operator of which {@code random} decides the details. */
  SimulatedEntries(Random random) {
    job = JOBS.get(random.nextInt(JOBS.size()));
    keys = 1 + random.nextInt(20);
  }

  private static List<Object> mapCommand(int key, Random random) {
    return Arrays.asList(
        "key" + key,
        MAP_COMMANDS[random.nextInt(MAP_COMMANDS.length)],
        random.nextInt(4) == 0 ? null : "map key of many bytes".substring(random.nextInt(3) * 8),
        random.nextInt(3),
        text(random));
  }

  private static List<Object> listCommand(int key, Random random) {
    return Arrays.asList(
        (long) key,
        LIST_COMMANDS[random.nextInt(LIST_COMMANDS.length)],
        text(random),
        random.nextInt(4) == 0 ? null : random.nextInt(3));
  }

  private static String text(Random random) {
    return random.nextInt(4) == 0 ? null : TEXT.substring(random.nextInt(TEXT.length()));
  }

  @Override
  public Schema schema() {
    return job.schema;
  }

  @Override
  public Schema outputSchema() {
    return job.plan.outputSchema();
  }

  @Override
  public int keyColumns() {
    return 1;
  }

  @Override
  public OperatorFactory<ColumnBatch, ColumnBatch> factory() {
    return ProcessOperator.factory(job.plan);
  }

  @Override
  public RowSource newSource() {
    return new Source();
  }

  @Override
  public KeyGroupModel newModel() {
    return new Model(job.model.get(), new HashMap<>(), new HashMap<>());
  }

  @Override
  public String toString() {
    return job.plan + ", " + keys + " keys";
  }

  private final class Source implements RowSource {
    @Override
    public List<List<Object>> nextRows(Random random) {
      return Stream.generate(() -> job.row.apply(random.nextInt(keys), random))
          .limit(random.nextInt(20))
          .toList();
    }

    @Override
    public RowSource copy() {
      return this;
    }
  }

  private record Model(
      CommandModel entries,
      Map<Object, List<List<Object>>> expected,
      Map<Object, List<List<Object>>> emitted)
      implements KeyGroupModel {

    @Override
    public void process(List<Object> row) {
      List<Object> answer = entries.process(row);
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
      return new Model(entries.copy(), copy(expected), copy(emitted));
    }

    private static Map<Object, List<List<Object>>> copy(Map<Object, List<List<Object>>> rows) {
      Map<Object, List<List<Object>>> copy = new HashMap<>();
      rows.forEach((key, of) -> copy.put(key, new ArrayList<>(of)));
      return copy;
    }
  }
}
