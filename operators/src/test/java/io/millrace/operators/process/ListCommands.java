// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static io.millrace.operators.process.MapCommands.append;
import static io.millrace.operators.process.MapCommands.text;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.state.StateTtl;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.types.Row;

/** Runs the command of each row on the list of its key {@code k}, and emits the answers. */
public final class ListCommands extends HostKeyedFunction {
  private static final long serialVersionUID = 1L;

  public static final String ADD = "add";
  public static final String GET = "get";
  public static final String REPLACE = "replace";
  public static final String CLEAR = "clear";

  public static final Schema ROWS =
      Schema.of(
          Field.of("k", DataType.INT64),
          new Field("command", DataType.STRING, false),
          Field.of("v", DataType.STRING),
          Field.of("n", DataType.INT32));

  static final ListStateSchema LIST =
      new ListStateSchema(
          "elements", Schema.of(Field.of("v", DataType.STRING), Field.of("n", DataType.INT32)));

  private final boolean isRequested;

  /**
   * @param isRequested whether the lists that are read are requested before
   */
  ListCommands(boolean isRequested) {
    this.isRequested = isRequested;
  }

  /** A job with limits with which small lists are compacted. */
  public static ProcessPlan planWithSmallLimits(boolean isRequested) {
    ListCommands commands = new ListCommands(isRequested);
    return new ProcessPlan(ROWS, List.of("k"), commands, StateTtl.NONE, MapCommands.SMALL);
  }

  @Override
  public Schema outputSchema(Schema input) {
    return Schema.of(Field.of("k", DataType.INT64), new Field("elements", DataType.STRING, false));
  }

  @Override
  public Schema stateSchema(Schema input) {
    return Schema.of();
  }

  @Override
  public List<ListStateSchema> listStates(Schema input) {
    return List.of(LIST);
  }

  @Override
  protected void process(HostKeyedBatch batch) {
    HostListState list = batch.list("elements");
    ColumnReader commands = batch.column("command");
    for (int row = 0; isRequested && row < batch.rowCount(); row++) {
      if (text(commands, row).equals(GET)) {
        list.request(batch.keyOf(row));
      }
    }
    for (int row = 0; row < batch.rowCount(); row++) {
      int key = batch.keyOf(row);
      ColumnReader numbers = batch.column("n");
      Row element =
          Row.of(text(batch.column("v"), row), numbers.isNull(row) ? null : numbers.getInt(row));
      switch (text(commands, row)) {
        case ADD -> list.add(key, element);
        case REPLACE -> list.update(key, List.of(element, Row.of("second", 2)));
        case CLEAR -> list.clear(key);
        default -> {
          ColumnReader keys = batch.key("k");
          append(batch.output().column(0), keys.isNull(key) ? null : keys.getLong(key));
          append(batch.output().column(1), list.get(key).toString());
        }
      }
    }
  }

  /** The lists of Java. */
  public static final class Model implements CommandModel {
    private final Map<Object, List<Row>> lists = new HashMap<>();

    @Override
    public Model copy() {
      Model copy = new Model();
      lists.forEach((key, list) -> copy.lists.put(key, new ArrayList<>(list)));
      return copy;
    }

    @Override
    public List<Object> process(List<Object> command) {
      List<Row> list = lists.computeIfAbsent(command.get(0), absent -> new ArrayList<>());
      Row element = Row.of(command.get(2), command.get(3));
      switch ((String) command.get(1)) {
        case ADD -> list.add(element);
        case REPLACE -> {
          list.clear();
          list.add(element);
          list.add(Row.of("second", 2));
        }
        case CLEAR -> list.clear();
        default -> {
          return Arrays.asList(command.get(0), list.toString());
        }
      }
      return null;
    }
  }
}
