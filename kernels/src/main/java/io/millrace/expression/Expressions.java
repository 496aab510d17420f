// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.expression.vector.TimestampNanos;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Makes expressions: {@code col("price").gt(1_000)}. */
@PublicEvolving
public final class Expressions {
  private static final int MAX_PRECISION = 38;

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
    if (value instanceof Expression expression) {
      return expression;
    } else if (value instanceof Boolean bool) {
      return new Expression.Literal(bool, DataType.BOOL);
    } else if (value instanceof Byte number) {
      return new Expression.Literal(number.longValue(), DataType.INT8);
    } else if (value instanceof Short number) {
      return new Expression.Literal(number.longValue(), DataType.INT16);
    } else if (value instanceof Integer number) {
      return new Expression.Literal(number.longValue(), DataType.INT32);
    } else if (value instanceof Long number) {
      return new Expression.Literal(number, DataType.INT64);
    } else if (value instanceof Float number) {
      return new Expression.Literal(number, DataType.FLOAT32);
    } else if (value instanceof Double number) {
      return new Expression.Literal(number, DataType.FLOAT64);
    } else if (value instanceof BigDecimal number) {
      return decimal(number);
    } else if (value instanceof String text) {
      return new Expression.Literal(text, DataType.STRING);
    }
    return temporal(value);
  }

  private static Expression temporal(Object value) {
    if (value instanceof LocalDate date) {
      return new Expression.Literal(date.toEpochDay(), DataType.DATE);
    } else if (value instanceof LocalTime time) {
      long millis = TimeUnit.NANOSECONDS.toMillis(time.toNanoOfDay());
      return new Expression.Literal(millis, DataType.TIME);
    } else if (value instanceof LocalDateTime time) {
      return timestamp(time.toInstant(ZoneOffset.UTC), false);
    } else if (value instanceof Instant instant) {
      return timestamp(instant, true);
    }
    throw new IllegalArgumentException(
        value == null
            ? "a null literal needs a type: nullOf(type)"
            : "no literal has the class " + value.getClass().getName());
  }

  private static Expression timestamp(Instant instant, boolean withTimeZone) {
    int nanos = instant.getNano();
    int precision = nanos % 1_000_000 == 0 ? 3 : nanos % 1_000 == 0 ? 6 : 9;
    DataType type = DataType.timestamp(precision, withTimeZone);
    long millis = Math.floorDiv(nanos, 1_000_000) + instant.getEpochSecond() * 1_000;
    return switch (precision) {
      case 3 -> new Expression.Literal(millis, type);
      case 6 -> new Expression.Literal(instant.getEpochSecond() * 1_000_000 + nanos / 1_000, type);
      default -> new Expression.Literal(new TimestampNanos(millis, nanos % 1_000_000), type);
    };
  }

  /** A DECIMAL literal with the digits of {@code number}: {@code decimal("0.908")}. */
  public static Expression decimal(String number) {
    return decimal(new BigDecimal(number));
  }

  private static Expression decimal(BigDecimal number) {
    BigDecimal plain = number.scale() < 0 ? number.setScale(0, RoundingMode.UNNECESSARY) : number;
    int precision = Math.max(plain.precision(), plain.scale());
    if (precision > MAX_PRECISION) {
      throw new IllegalArgumentException(number + " has more than 38 digits");
    }
    return new Expression.Literal(plain, DataType.decimal(precision, plain.scale()));
  }

  /** The null of a type. */
  public static Expression nullOf(DataType type) {
    return new Expression.Literal(null, type);
  }

  /** A function or operator by its SQL name; arguments as {@link #lit} takes them. */
  public static Expression call(String function, Object... arguments) {
    return new Expression.Call(function, Arrays.stream(arguments).map(Expressions::lit).toList());
  }

  public static Object[] prepend(Expression first, Object... rest) {
    List<Object> all = new ArrayList<>(rest.length + 1);
    all.add(first);
    all.addAll(Arrays.asList(rest));
    return all.toArray();
  }
}
