// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import java.math.BigDecimal;

/** Makes expressions: {@code col("price").gt(1_000)}. */
@PublicEvolving
public final class Expressions {
  private Expressions() {}

  /** The value of the column {@code name}. */
  public static Expression col(String name) {
    return new Expression.ColumnReference(name);
  }

  /**
   * A literal with the type that SQL gives it: Boolean, Byte to Long, Float, Double, BigDecimal (as
   * many digits as it has), String, LocalDate, LocalTime, LocalDateTime and Instant (fraction
   * digits 3, 6 or 9, as the value needs). An expression is returned as it is.
   *
   * @throws IllegalArgumentException if no type has such a value; a null needs {@link #nullOf}
   */
  public static Expression lit(Object value) {
    return Expression.of(value);
  }

  /** A DECIMAL literal with the digits of {@code number}: {@code decimal("0.908")}. */
  public static Expression decimal(String number) {
    return Expression.Literal.of(new BigDecimal(number));
  }

  /** The null of a type. */
  public static Expression nullOf(DataType type) {
    return new Expression.Literal(null, type);
  }

  /** A function or operator by its SQL name; arguments as {@link #lit} takes them. */
  public static Expression call(String function, Object... arguments) {
    return Expression.Call.of(function, arguments);
  }
}
