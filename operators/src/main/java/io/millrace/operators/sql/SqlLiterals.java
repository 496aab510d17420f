// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.vector.TimestampNanos;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.format.SignStyle;
import java.time.temporal.ChronoField;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.calcite.sql.SqlIntervalLiteral;
import org.apache.calcite.sql.SqlIntervalLiteral.IntervalValue;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNumericLiteral;
import org.apache.calcite.sql.parser.SqlParserUtil;

/** Converts the parser's literals to expressions with the types that Flink SQL gives them. */
final class SqlLiterals {
  private static final int MILLI_DIGITS = 3;
  private static final int MICRO_DIGITS = 6;
  private static final int MAX_PRECISION = 38;
  private static final Set<TypeId> TEMPORAL =
      EnumSet.of(TypeId.DATE, TypeId.TIME, TypeId.TIMESTAMP_MILLIS, TypeId.TIMESTAMP_MICROS);

  private static final Pattern WHOLE_NUMBER = Pattern.compile("[+-]?\\d{1,9}");
  private static final Map<String, Integer> UNITS_PER_DAY =
      Map.of("HOUR", 24, "MINUTE", 24 * 60, "SECOND", 24 * 60 * 60);
  private static final DateTimeFormatter DATE =
      strict(
          new DateTimeFormatterBuilder()
              .appendValue(ChronoField.YEAR, 1, 4, SignStyle.NOT_NEGATIVE)
              .appendPattern("-M-d"));
  private static final DateTimeFormatter TIME =
      strict(
          new DateTimeFormatterBuilder()
              .appendPattern("H:m:s")
              .appendFraction(ChronoField.NANO_OF_SECOND, 0, 9, true));
  private static final DateTimeFormatter TIMESTAMP =
      strict(
          new DateTimeFormatterBuilder()
              .append(DATE)
              .optionalStart()
              .appendLiteral(' ')
              .append(TIME)
              .optionalEnd()
              .parseDefaulting(ChronoField.HOUR_OF_DAY, 0));

  private SqlLiterals() {}

  private static DateTimeFormatter strict(DateTimeFormatterBuilder builder) {
    return builder.toFormatter(Locale.ROOT).withResolverStyle(ResolverStyle.STRICT);
  }

  static Expression convert(SqlLiteral literal) {
    if (literal instanceof SqlNumericLiteral number) {
      return number(number);
    }
    return switch (literal.getTypeName()) {
      case NULL -> Expressions.nullOf(DataType.BOOL);
      case BOOLEAN ->
          literal.getValue() == null
              ? Expressions.nullOf(DataType.BOOL)
              : Expressions.lit(literal.booleanValue());
      case CHAR, VARCHAR -> Expressions.lit(literal.getValueAs(String.class));
      case SYMBOL -> Expressions.lit(literal.getValueAs(Enum.class).name());
      case DATE -> temporal("DATE", literal.toValue());
      case TIME -> temporal("TIME", literal.toValue());
      case TIMESTAMP -> temporal("TIMESTAMP", literal.toValue());
      case UNKNOWN -> temporal(tag(literal), literal.getValueAs(String.class));
      default -> throw new ExpressionException("the literal " + literal + " is not supported");
    };
  }

  // After parsing, DATE '2020-01-01' has no type yet; its tag is the word before the text.
  private static String tag(SqlLiteral literal) {
    return literal.toString().replaceAll("\\s*'.*", "");
  }

  private static Expression number(SqlNumericLiteral literal) {
    BigDecimal value = literal.bigDecimalValue();
    if (!literal.isExact()) {
      return approximate(value);
    }
    if (!literal.isInteger() || value.toBigInteger().bitLength() >= Long.SIZE) {
      return decimal(value, literal.getPrec());
    }
    long number = value.longValueExact();
    return number == (int) number ? Expressions.lit((int) number) : Expressions.lit(number);
  }

  private static Expression approximate(BigDecimal value) {
    double number = value.doubleValue();
    if (Double.isInfinite(number)) {
      throw new ExpressionException(value + " is out of DOUBLE's range");
    }
    return Expressions.lit(number);
  }

  // The precision counts the digits of the text, including leading zeros.
  private static Expression decimal(BigDecimal value, int digits) {
    int precision = Math.max(digits, value.precision());
    if (precision > MAX_PRECISION) {
      throw new ExpressionException(value + " has more than 38 digits");
    }
    return new Expression.Literal(value, DataType.decimal(precision, value.scale()));
  }

  /**
   * The literal with the opposite sign. A literal that is not a number becomes a call of the
   * negation, which the type check refuses.
   */
  static Expression negate(Expression.Literal literal) {
    if (literal.value() instanceof Long number && !TEMPORAL.contains(literal.type().id())) {
      return new Expression.Literal(-number, literal.type());
    } else if (literal.value() instanceof Double number) {
      return new Expression.Literal(-number, literal.type());
    } else if (literal.value() instanceof BigDecimal number) {
      return new Expression.Literal(number.negate(), literal.type());
    }
    return literal.negate();
  }

  private static Expression temporal(String type, String text) {
    try {
      return switch (type) {
        case "DATE" -> Expressions.lit(LocalDate.parse(text, DATE));
        case "TIME" -> Expressions.lit(LocalTime.parse(text, TIME));
        case "TIMESTAMP" -> timestamp(text);
        default -> throw new ExpressionException("a literal of " + type + " is not supported");
      };
    } catch (DateTimeException e) {
      throw new ExpressionException("expected " + type + ", got '" + text + "'");
    }
  }

  // The precision is the number of written digits after the point.
  private static Expression timestamp(String text) {
    int point = text.indexOf('.');
    int digits = point < 0 ? 0 : text.length() - point - 1;
    LocalDateTime time = LocalDateTime.parse(text, TIMESTAMP);
    long second = time.toEpochSecond(ZoneOffset.UTC);
    long millis = second * 1_000 + time.get(ChronoField.MILLI_OF_SECOND);
    DataType type = DataType.timestamp(digits);
    if (digits <= MILLI_DIGITS) {
      return new Expression.Literal(millis, type);
    } else if (digits <= MICRO_DIGITS) {
      return new Expression.Literal(
          second * 1_000_000 + time.get(ChronoField.MICRO_OF_SECOND), type);
    }
    return new Expression.Literal(
        new TimestampNanos(millis, time.get(ChronoField.NANO_OF_SECOND) % 1_000_000), type);
  }

  /**
   * The sum or difference of a time and an interval, such as {@code INTERVAL '3' DAY} or {@code
   * INTERVAL '1:30.5' MINUTE TO SECOND}. A DATE stays a DATE: the interval counts by its whole
   * days.
   *
   * @param type the type of {@code time}
   */
  static Expression add(
      Expression time, DataType type, SqlIntervalLiteral literal, boolean subtract) {
    IntervalValue interval = literal.getValueAs(IntervalValue.class);
    boolean isWhole =
        interval.getIntervalQualifier().isSingleDatetimeField()
            && WHOLE_NUMBER.matcher(interval.getIntervalLiteral().trim()).matches();
    if (!isWhole) {
      return addLength(time, type, literal, subtract);
    }
    int number = Integer.parseInt(interval.getIntervalLiteral().trim()) * interval.getSign();
    int count = subtract ? -number : number;
    String unit = interval.getIntervalQualifier().getStartUnit().name();
    Integer unitsPerDay = type.id() == TypeId.DATE ? UNITS_PER_DAY.get(unit) : null;
    return unitsPerDay == null
        ? Expressions.call("TIMESTAMPADD", unit, count, time)
        : Expressions.call("TIMESTAMPADD", "DAY", count / unitsPerDay, time);
  }

  private static Expression addLength(
      Expression time, DataType type, SqlIntervalLiteral literal, boolean subtract) {
    IntervalValue interval = literal.getValueAs(IntervalValue.class);
    boolean isMonths = interval.getIntervalQualifier().isYearMonth();
    long length;
    try {
      length =
          isMonths
              ? SqlParserUtil.intervalToMonths(interval)
              : SqlParserUtil.intervalToMillis(interval);
    } catch (RuntimeException e) {
      throw new ExpressionException("expected an interval, got " + literal);
    }
    // A fraction of a second needs digits.
    String unit = type.isTimestamp() && type.precision() < MILLI_DIGITS ? "MILLISECOND" : "DAY";
    return Expressions.call(
        "DATETIME_PLUS", time, subtract ? -length : length, isMonths ? "MONTH" : unit);
  }
}
