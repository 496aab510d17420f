// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.StateTtl;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The rows that operators in front of the aggregates add to a batch: they have the key, and values
 * in columns that are null in the rows of the input, and null in the columns of all other
 * aggregates.
 */
final class AddedRows {
  /** The column that is null in the rows that are added. */
  static final String IS_ROW = "$is_row";

  /** The number of rows of a key and value, without rows that are added. */
  static final String ROWS = "$COUNT(*)";

  private AddedRows() {}

  /** {@code columns}, which may be null from {@code first} on. */
  static Schema nullable(Schema columns, int first) {
    List<Field> fields = new ArrayList<>(columns.fields());
    for (int i = first; i < fields.size(); i++) {
      fields.set(i, Field.of(fields.get(i).name(), fields.get(i).type()));
    }
    return new Schema(fields);
  }

  /**
   * The number of rows of each key and value of an argument.
   *
   * @param column of the argument
   * @param counts further numbers of rows
   * @param state of the aggregates
   * @param stateTtl how long a value stays behind its last row
   * @param what the message begins with
   * @throws ExpressionException if the value cannot be part of a key, or there are more than 24
   *     words of keys or 48 words of counts
   */
  static StateSchema values(
      int column, List<Accumulator> counts, StateSchema state, StateTtl stateTtl, String what) {
    List<Integer> keys = new ArrayList<>(state.keys());
    keys.add(column);
    List<Accumulator> accumulators = new ArrayList<>();
    if (!stateTtl.isNone()) {
      accumulators.add(stateTtl.updateTime());
    }
    accumulators.add(Accumulator.countRows(ROWS, state.input().indexOf(IS_ROW)));
    accumulators.addAll(counts);
    try {
      return new StateSchema(state.input(), keys, accumulators, state.kindColumn());
    } catch (IllegalArgumentException e) {
      throw new ExpressionException(what + ": " + e.getMessage());
    }
  }

  /**
   * Makes rows of the columns of {@code input}; the caller closes the calc.
   *
   * @param state of the aggregates, whose input the rows are
   * @param kind of the rows
   * @param values by the position of the column; all other columns but those of the key are null
   */
  static Calc of(
      Schema input,
      Optional<Expression> condition,
      StateSchema state,
      Expression kind,
      Map<Integer, Expression> values,
      ExpressionSettings settings) {
    List<Expression> columns = new ArrayList<>();
    for (int i = 0; i < state.input().size(); i++) {
      Field field = state.input().field(i);
      Expression value = values.getOrDefault(i, Expressions.nullOf(field.type())).as(field.name());
      if (state.keys().contains(i)) {
        value = Expressions.col(field.name());
      } else if (i == state.kindColumn()) {
        value = kind.as(RowKindColumn.NAME);
      }
      columns.add(value);
    }
    return Calc.of(input, condition, columns, settings.context());
  }
}
