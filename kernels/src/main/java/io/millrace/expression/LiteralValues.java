// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.column.DataType;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.vector.BinaryValue;
import io.millrace.expression.vector.TimestampNanos;
import java.io.Serializable;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.time.temporal.TemporalAccessor;
import java.util.concurrent.TimeUnit;

/** Java values as the values of literals. */
final class LiteralValues {
  private static final int MAX_PRECISION = 38;
  private static final int NANO_DIGITS = 9;
  private static final int NANOS_PER_MILLI = 1_000_000;
  private static final long MICROS_PER_SECOND = 1_000_000;

  private LiteralValues() {}

  /**
   * The type that SQL gives to a value.
   *
   * @throws IllegalArgumentException if the value is null or of another class than {@link
   *     Expression.Literal#of(Object)} says, or has more than 38 digits
   */
  static DataType typeOf(Object value) {
    if (value instanceof Boolean) {
      return DataType.BOOL;
    } else if (value instanceof Byte) {
      return DataType.INT8;
    } else if (value instanceof Short) {
      return DataType.INT16;
    } else if (value instanceof Integer) {
      return DataType.INT32;
    } else if (value instanceof Long) {
      return DataType.INT64;
    } else if (value instanceof Float) {
      return DataType.FLOAT32;
    } else if (value instanceof Double) {
      return DataType.FLOAT64;
    } else if (value instanceof BigDecimal number) {
      return decimal(number);
    } else if (value instanceof String) {
      return DataType.STRING;
    } else if (value instanceof byte[] || value instanceof BinaryValue) {
      return DataType.BINARY;
    }
    return temporal(value);
  }

  private static DataType temporal(Object value) {
    if (value instanceof LocalDate) {
      return DataType.DATE;
    } else if (value instanceof LocalTime) {
      return DataType.TIME;
    } else if (value instanceof LocalDateTime time) {
      return DataType.timestamp(digits(time));
    } else if (value instanceof Instant instant) {
      return DataType.timestamp(digits(instant), true);
    }
    throw new IllegalArgumentException(
        value == null
            ? "a null literal needs a type: nullOf(type)"
            : "no literal has the class " + value.getClass().getName());
  }

  private static int digits(TemporalAccessor time) {
    int nanos = time.get(ChronoField.NANO_OF_SECOND);
    return nanos % NANOS_PER_MILLI == 0 ? 3 : nanos % 1_000 == 0 ? 6 : NANO_DIGITS;
  }

  private static DataType decimal(BigDecimal number) {
    int scale = Math.max(0, number.scale());
    int precision = Math.max(number.precision() + scale - number.scale(), scale);
    if (precision > MAX_PRECISION) {
      throw new IllegalArgumentException(number + " has more than 38 digits");
    }
    return DataType.decimal(precision, scale);
  }

  /**
   * The value as a literal of {@code type} holds it, see {@link TypedExpression.Literal}.
   *
   * @param value not null
   * @throws IllegalArgumentException if the type has no such value
   */
  static Serializable of(Object value, DataType type) {
    try {
      return switch (type.id()) {
        case BOOL -> (Boolean) value;
        case INT8, INT16, INT32, INT64 -> integer((Number) value, type);
        case FLOAT32 -> ((Number) value).floatValue();
        case FLOAT64 -> ((Number) value).doubleValue();
        case DECIMAL32, DECIMAL64, DECIMAL128 -> decimal((Number) value, type);
        case STRING -> (String) value;
        case BINARY -> value instanceof byte[] bytes ? new BinaryValue(bytes) : (BinaryValue) value;
        case DATE -> ((LocalDate) value).toEpochDay();
        case TIME -> TimeUnit.NANOSECONDS.toMillis(((LocalTime) value).toNanoOfDay());
        case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS ->
            timestamp(
                type.withTimeZone()
                    ? (Instant) value
                    : ((LocalDateTime) value).toInstant(ZoneOffset.UTC),
                type);
        case LIST, STRUCT, DICTIONARY ->
            throw new IllegalArgumentException("no literal is " + type);
      };
    } catch (ClassCastException | ArithmeticException e) {
      throw new IllegalArgumentException("expected a value of " + type + ", got " + value, e);
    }
  }

  private static long integer(Number value, DataType type) {
    long number = new BigDecimal(value.toString()).longValueExact();
    int bits = Byte.SIZE * type.id().byteWidth();
    long first = -1L << (bits - 1);
    if (number < first || number > ~first) {
      throw new ArithmeticException("out of range");
    }
    return number;
  }

  private static BigDecimal decimal(Number value, DataType type) {
    BigDecimal number =
        new BigDecimal(value.toString()).setScale(type.scale(), RoundingMode.UNNECESSARY);
    if (number.precision() > type.precision()) {
      throw new ArithmeticException("too many digits");
    }
    return number;
  }

  private static Serializable timestamp(Instant instant, DataType type) {
    int nanos = instant.get(ChronoField.NANO_OF_SECOND);
    if (nanos % Math.round(Math.pow(10, NANO_DIGITS - type.precision())) != 0) {
      throw new ArithmeticException("too many digits");
    }
    return switch (type.id()) {
      case TIMESTAMP_MILLIS -> instant.toEpochMilli();
      case TIMESTAMP_MICROS -> micros(instant);
      default -> new TimestampNanos(instant.toEpochMilli(), nanos % NANOS_PER_MILLI);
    };
  }

  // Of the last whole second before or behind the instant, as the one before may be out of range.
  private static long micros(Instant instant) {
    long second = instant.getEpochSecond();
    long micros = instant.getNano() / 1_000;
    return second < 0 && micros > 0
        ? Math.addExact(
            Math.multiplyExact(second + 1, MICROS_PER_SECOND), micros - MICROS_PER_SECOND)
        : Math.addExact(Math.multiplyExact(second, MICROS_PER_SECOND), micros);
  }
}
