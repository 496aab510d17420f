// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.operators.state.KeyedOperatorHarness;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;

/** A subtask of an operator in front of the aggregates of a plan, whose key is a column. */
final class ArgumentHarness extends KeyedOperatorHarness {
  private final int isRow;
  private final int[] columns;

  private ArgumentHarness(
      DeviceExtension device, GroupAggregatePlan plan, int position, int... columns)
      throws Exception {
    super(
        device,
        position == 0 ? plan.input() : plan.argumentSchema(),
        plan.argumentSchema(),
        ArgumentOperator.factory(plan, position),
        environment(0, 1, Map.of()));
    this.isRow = plan.argumentSchema().indexOf(AddedRows.IS_ROW);
    this.columns = columns;
  }

  /** The only subtask of an operator behind others, with empty state. */
  static ArgumentHarness openBehind(DeviceExtension device, GroupAggregatePlan plan, int position)
      throws Exception {
    ArgumentHarness harness = new ArgumentHarness(device, plan, position);
    harness.start(null);
    return harness;
  }

  /**
   * The only subtask of the first operator.
   *
   * @param state of a checkpoint; null to start without
   * @param columns of added rows, counted from the first argument on
   */
  static ArgumentHarness open(
      DeviceExtension device, GroupAggregatePlan plan, OperatorSubtaskState state, int... columns)
      throws Exception {
    ArgumentHarness harness = new ArgumentHarness(device, plan, 0, columns);
    harness.start(state);
    return harness;
  }

  /** {@link ExtremesOperator#keysWithExtremes}. */
  long keysWithExtremes() {
    return ((ExtremesOperator) harness().getOperator()).keysWithExtremes();
  }

  /** Sends a batch and returns the rows that come out. */
  List<List<Object>> rows(List<?>... rows) throws Exception {
    send(0, List.of(rows));
    return takeRows();
  }

  /** Sends a batch and returns {@link #takeAdded}. */
  List<List<Object>> added(List<?>... rows) throws Exception {
    send(0, List.of(rows));
    return takeAdded();
  }

  /** The key and the chosen columns of the rows that were added since the last call. */
  List<List<Object>> takeAdded() {
    List<List<Object>> added = new ArrayList<>();
    for (List<Object> row : takeRows()) {
      if (row.get(isRow) == null) {
        List<Object> values = new ArrayList<>(row.subList(0, 1));
        Arrays.stream(columns).forEach(column -> values.add(row.get(isRow + 1 + column)));
        added.add(values);
      }
    }
    return added;
  }
}
