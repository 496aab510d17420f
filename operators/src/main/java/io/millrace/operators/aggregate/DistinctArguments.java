// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.state.row.Accumulator;
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
  /** The column that is null in the rows that are added. */
  static final String IS_ROW = "$is_row";

  private static final String ROWS = "$COUNT(*)";

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

  /** {@code columns}, which may be null from {@code first} on. */
  static Schema nullable(Schema columns, int first) {
    List<Field> fields = new ArrayList<>(columns.fields());
    for (int i = first; i < fields.size(); i++) {
      fields.set(i, Field.of(fields.get(i).name(), fields.get(i).type()));
    }
    return new Schema(fields);
  }

  /**
   * The steps between the arguments and {@code state}; the caller closes them.
   *
   * @throws ExpressionException if a value cannot be part of a key, or there are more than 24 words
   *     of keys
   */
  List<DistinctStep> steps(StateSchema state, ExpressionSettings settings) {
    List<DistinctStep> steps = new ArrayList<>();
    try {
      for (Argument argument : arguments) {
        StateSchema values = values(argument, state);
        steps.add(
            new DistinctStep(argument.text, values, addedRows(argument, state, values, settings)));
      }
      return steps;
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      steps.forEach(step -> failure.run(step::close));
      throw e;
    }
  }

  private static StateSchema values(Argument argument, StateSchema state) {
    List<Integer> keys = new ArrayList<>(state.keys());
    keys.add(argument.column);
    try {
      return new StateSchema(
          state.input(), keys, List.of(Accumulator.countRows(ROWS)), state.kindColumn());
    } catch (IllegalArgumentException e) {
      throw new ExpressionException("DISTINCT " + argument.text + ": " + e.getMessage());
    }
  }

  private static Calc addedRows(
      Argument argument, StateSchema state, StateSchema values, ExpressionSettings settings) {
    Expression kind = Expressions.col(StateSchema.KIND);
    Expression comesOrGoes =
        kind.eq((int) ChangeKind.INSERT.value()).or(kind.eq((int) ChangeKind.DELETE.value()));
    List<Expression> columns = new ArrayList<>();
    for (int i = 0; i < state.input().size(); i++) {
      Field field = state.input().field(i);
      Expression value =
          argument.values.getOrDefault(i, Expressions.nullOf(field.type())).as(field.name());
      if (state.keys().contains(i)) {
        value = Expressions.col(field.name());
      } else if (i == state.kindColumn()) {
        value = kind.as(RowKindColumn.NAME);
      }
      columns.add(value);
    }
    Expression hasValue = Expressions.col(argument.name).isNotNull();
    return Calc.of(
        values.changes(), Optional.of(comesOrGoes.and(hasValue)), columns, settings.context());
  }
}
