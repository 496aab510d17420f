// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.operators.aggregate.ArgumentName.Kind;
import io.millrace.operators.aggregate.ArgumentOperator;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.aggregate.GroupAggregatePlan.Steps;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;

/** What {@link ColumnStream#explain} says of the state of an operator. */
final class StateExplain {
  // At 80 % and 40 % load; see docs/group-aggregate.md.
  private static final int MIN_INDEX_BYTES = 9;
  private static final int MAX_INDEX_BYTES = 14;

  private StateExplain() {}

  static String ofKeys(GroupAggregatePlan plan) {
    try (Steps steps = plan.steps()) {
      return ofKeys(steps.state());
    }
  }

  static String ofKeys(StateSchema schema) {
    return text(schema, "key");
  }

  /** The state of an argument: its values as part of the key, or accumulators of a function. */
  static String ofArgument(GroupAggregatePlan plan, int index) {
    boolean isFunction = plan.keptArguments().get(index).kind() == Kind.FUNCTION;
    return text(ArgumentOperator.state(plan, index), isFunction ? "key" : "key and value");
  }

  /** The state of windows, whose slices of time are tables. */
  static String ofSlices(GroupAggregatePlan plan) {
    try (Steps steps = plan.steps()) {
      return text(steps.state(), "key and slice");
    }
  }

  private static String text(StateSchema schema, String of) {
    List<String> names = new ArrayList<>(schema.keySchema().names());
    schema.accumulators().forEach(accumulator -> names.add(accumulator.name()));
    List<String> values =
        names.stream().map(name -> name.startsWith("$") ? name.substring(1) : name).toList();
    return String.format(
        "%d bytes of row and %d to %d bytes of index for each %s%s: %s",
        schema.rowBytes(),
        MIN_INDEX_BYTES,
        MAX_INDEX_BYTES,
        of,
        schema.hasStrings() ? ", and strings of more than 12 bytes" : "",
        String.join(", ", values));
  }
}
