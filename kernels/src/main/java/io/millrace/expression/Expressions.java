// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import java.math.BigDecimal;

/** Factory of expressions: {@code col("price").gt(1_000)}. */
@PublicEvolving
public final class Expressions {
  private Expressions() {}

  /** Reads the column {@code name}. */
  public static Expression col(String name) {
    return new Expression.ColumnReference(name);
  }

  /**
   * A literal of the type that SQL assigns to the value. Accepted classes: Boolean, Byte to Long,
   * Float, Double, BigDecimal (precision as needed), String, {@code byte[]}, LocalDate, LocalTime,
   * LocalDateTime and Instant (3, 6 or 9 fraction digits as needed). An expression is returned
   * unchanged.
   *
   * @throws IllegalArgumentException if the value is null (use {@link #nullOf}) or of another
   *     class, or has more than 38 digits
   */
  public static Expression lit(Object value) {
    return Expression.of(value);
  }

  /**
   * A literal of a given type, such as a TIMESTAMP(9) of a value without nanoseconds.
   *
   * @throws IllegalArgumentException as {@link Expression.Literal#of(Object, DataType)}
   */
  public static Expression lit(Object value, DataType type) {
    return Expression.Literal.of(value, type);
  }

  /** A DECIMAL literal with the digits of {@code number}: {@code decimal("0.908")}. */
  public static Expression decimal(String number) {
    return Expression.Literal.of(new BigDecimal(number));
  }

  /** A null of the given type. */
  public static Expression nullOf(DataType type) {
    return new Expression.Literal(null, type);
  }

  /** Calls a function or operator by its SQL name. Arguments are converted by {@link #lit}. */
  public static Expression call(String function, Object... arguments) {
    return Expression.Call.of(function, arguments);
  }
}
