// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.testing.RandomTables;
import java.util.List;
import java.util.Random;

/** Random conditions over columns of fixed width, some rows of which fulfil them. */
public final class RandomConditions {
  private static final int MAX_DEPTH = 3;

  private final Random random;
  private final RandomTables values;
  private final List<Field> columns;

  /**
   * @param columns of fixed width
   */
  public RandomConditions(Random random, Schema columns) {
    this.random = random;
    this.values = new RandomTables(random, 0);
    this.columns = columns.fields();
  }

  /** A condition that cannot fail. */
  public Expression next() {
    return next(0);
  }

  private Expression next(int depth) {
    return switch (random.nextInt(depth == MAX_DEPTH ? 3 : 7)) {
      case 0, 1 -> comparison();
      case 2 -> column().isNull();
      case 3, 4 -> next(depth + 1).and(next(depth + 1));
      case 5 -> next(depth + 1).or(next(depth + 1));
      default -> next(depth + 1).not();
    };
  }

  private Expression column() {
    return Expressions.col(columns.get(random.nextInt(columns.size())).name());
  }

  private Expression comparison() {
    Field field = columns.get(random.nextInt(columns.size()));
    Expression column = Expressions.col(field.name());
    Object value = values.value(field.type());
    boolean hasOrder = field.type().id() != TypeId.BOOL;
    return switch (random.nextInt(hasOrder ? 4 : 2)) {
      case 0 -> column.eq(value);
      case 1 -> column.ne(value);
      case 2 -> column.gt(value);
      default -> column.le(value);
    };
  }
}
