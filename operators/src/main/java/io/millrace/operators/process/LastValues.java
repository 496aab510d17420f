// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import java.util.ArrayList;
import java.util.List;

/**
 * Columns of which a state table keeps the last values: as accumulators, and beside each whether
 * there is a value, since a null would leave the value before.
 */
record LastValues(Schema columns) {
  /**
   * Checks that the columns can be kept.
   *
   * @param what they are, such as {@code state column}
   * @throws ExpressionException if one is NOT NULL, or an ARRAY or a ROW
   */
  void check(String what) {
    for (Field column : columns.fields()) {
      if (!column.nullable()) {
        throw new ExpressionException(
            "expected a nullable "
                + what
                + ", got '"
                + column.name()
                + "' "
                + column.type()
                + " NOT NULL: null says that there is no value");
      }
      if (!Function.LAST.supports(column.type())) {
        throw new ExpressionException(
            "expected a type other than ARRAY, ROW and DICTIONARY for "
                + what
                + " '"
                + column.name()
                + "', got "
                + column.type());
      }
    }
  }

  private static String value(Field column) {
    return "$LAST(" + column.name() + ")";
  }

  private static String isSet(Field column) {
    return "$IS_SET(" + column.name() + ")";
  }

  /**
   * The accumulators.
   *
   * @param first the position of the first of {@link #updates} in the input of the table
   */
  List<Accumulator> accumulators(int first) {
    List<Accumulator> accumulators = new ArrayList<>();
    int position = first;
    for (Field column : columns.fields()) {
      accumulators.add(new Accumulator(value(column), Function.LAST, position));
      accumulators.add(new Accumulator(isSet(column), Function.LAST, position + columns.size()));
      position++;
    }
    return accumulators;
  }

  /** The columns, of the accumulators. */
  List<Expression> values() {
    List<Expression> values = new ArrayList<>();
    for (Field column : columns.fields()) {
      Expression value = Expressions.col(value(column));
      Expression none = Expressions.nullOf(column.type());
      values.add(Expressions.col(isSet(column)).then(value, none).as(column.name()));
    }
    return values;
  }

  /** What a table is updated with so that it has the values of the columns. */
  List<Expression> updates() {
    return updates(Expressions.lit(true));
  }

  /**
   * The same, where there are no values for rows without {@code condition}.
   *
   * @param condition a BOOLEAN that is not null
   */
  List<Expression> updates(Expression condition) {
    List<Expression> updates = new ArrayList<>();
    List<Expression> areSet = new ArrayList<>();
    for (Field column : columns.fields()) {
      updates.add(Expressions.col(column.name()));
      Expression hasValue = Expressions.col(column.name()).isNotNull();
      areSet.add(condition.and(hasValue).as(isSet(column)));
    }
    updates.addAll(areSet);
    return updates;
  }

  /** What a table is updated with so that there are no values. */
  List<Expression> noValues() {
    List<Expression> updates = new ArrayList<>();
    List<Expression> areSet = new ArrayList<>();
    for (Field column : columns.fields()) {
      updates.add(Expressions.nullOf(column.type()).as(column.name()));
      areSet.add(Expressions.lit(false).as(isSet(column)));
    }
    updates.addAll(areSet);
    return updates;
  }
}
