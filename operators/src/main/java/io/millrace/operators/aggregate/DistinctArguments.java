// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.ArgumentName.Kind;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The columns of DISTINCT among the arguments of aggregates. An argument has a column of its own,
 * which no aggregate reads. The aggregates read columns that are null in the rows of the input: for
 * each key and value that comes or goes, a row is added that has the value there, and null in the
 * columns of all other aggregates.
 */
final class DistinctArguments {
  /**
   * An argument.
   *
   * @param values by column, computed of the argument
   */
  private record Argument(String text, String name, int column, Map<Integer, Expression> values) {}

  private final List<Argument> arguments = new ArrayList<>();

  /** The name of an argument's column; a checkpoint's values are found again by it. */
  static String name(String text) {
    return "$DISTINCT(" + text + ")";
  }

  /**
   * Adds a column that an aggregate reads.
   *
   * @param argumentColumn of the argument
   * @param column that is null in the rows of the input
   * @param value of the argument, which is called by its name
   */
  void add(String text, int argumentColumn, int column, Expression value) {
    Argument argument =
        arguments.stream()
            .filter(known -> known.column == argumentColumn)
            .findFirst()
            .orElseGet(
                () -> {
                  Argument added = new Argument(text, name(text), argumentColumn, new HashMap<>());
                  arguments.add(added);
                  return added;
                });
    argument.values.put(column, value);
  }

  /**
   * Adds the steps between the arguments and {@code state}; the caller closes them.
   *
   * @throws ExpressionException if a value cannot be part of a key, or there are more than 24 words
   *     of keys
   */
  void addSteps(
      StateSchema state, StateTtl stateTtl, ExpressionSettings settings, List<ArgumentStep> steps) {
    for (Argument argument : arguments) {
      StateSchema values =
          AddedRows.values(argument.column, state, stateTtl, "DISTINCT " + argument.text);
      steps.add(
          new DistinctStep(
              new ArgumentName(Kind.DISTINCT, argument.text),
              values,
              addedRows(argument, state, values, settings)));
    }
  }

  private static Calc addedRows(
      Argument argument, StateSchema state, StateSchema values, ExpressionSettings settings) {
    Expression kind = Expressions.col(StateSchema.KIND);
    Expression comesOrGoes =
        kind.eq((int) ChangeKind.INSERT.value()).or(kind.eq((int) ChangeKind.DELETE.value()));
    Expression hasValue = Expressions.col(argument.name).isNotNull();
    return AddedRows.of(
        values.changes(),
        Optional.of(comesOrGoes.and(hasValue)),
        state,
        kind,
        argument.values,
        settings);
  }
}
