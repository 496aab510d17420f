// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.ArgumentName.Kind;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The columns of MIN and MAX among the arguments of aggregates over a changelog. An argument has a
 * column of its own, which no aggregate reads. The aggregates read columns that are null in the
 * rows of the input: for each key whose smallest or largest value changed, a row is added that has
 * these values there, and whether there are any.
 */
final class ExtremesArguments {
  /**
   * An argument.
   *
   * @param column of the argument
   * @param isSet the column that tells whether there is a value
   * @param extremes the columns of MIN and MAX, or of one of them
   */
  record Argument(String text, int column, int isSet, Map<Aggregate.Function, Integer> extremes) {}

  private final List<Argument> arguments = new ArrayList<>();

  /** The name of an argument's column; a checkpoint's values are found again by it. */
  static String name(String text) {
    return "$EXTREMES(" + text + ")";
  }

  /**
   * Adds a column that an aggregate reads.
   *
   * @param column of the argument
   * @param function MIN or MAX
   * @param extreme the column of its result
   * @param isSet the column that tells whether there is a value
   */
  void add(String text, int column, Aggregate.Function function, int extreme, int isSet) {
    Argument argument =
        arguments.stream()
            .filter(known -> known.column == column)
            .findFirst()
            .orElseGet(
                () -> {
                  Argument added =
                      new Argument(text, column, isSet, new EnumMap<>(Aggregate.Function.class));
                  arguments.add(added);
                  return added;
                });
    argument.extremes.put(function, extreme);
  }

  /**
   * Adds the steps between the arguments and {@code state}; the caller closes them.
   *
   * @throws ExpressionException if there are more than 24 words of keys with a value
   */
  void addSteps(
      StateSchema state, StateTtl stateTtl, ExpressionSettings settings, List<ArgumentStep> steps) {
    for (Argument argument : arguments) {
      StateSchema values =
          AddedRows.values(
              argument.column, List.of(), state, stateTtl, "MIN or MAX of " + argument.text);
      steps.add(
          new ExtremesStepBuilder(
                  new ArgumentName(Kind.EXTREMES, argument.text),
                  argument,
                  values,
                  state,
                  stateTtl,
                  settings)
              .build());
    }
  }
}
