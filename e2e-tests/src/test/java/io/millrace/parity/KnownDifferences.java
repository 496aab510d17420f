// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity;

import static io.millrace.testing.RandomExpressions.operandsOf;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.parity.FlinkResult.FailedRow;
import io.millrace.testing.CalcResults.RowFailure;
import io.millrace.testing.RandomExpressions;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The rows at which an expression is not Flink's though nothing is wrong: a part of it differs for
 * its arguments, as the function's documentation says, or Flink's planner made another expression
 * of it.
 */
final class KnownDifferences {
  /** Flink calls Math, whose results these are near to: units in the last place. */
  private static final Map<String, Integer> ULPS =
      Map.ofEntries(
          Map.entry("COS", 1),
          Map.entry("COT", 2),
          Map.entry("EXP", 1),
          Map.entry("LN", 1),
          Map.entry("LOG", 1),
          Map.entry("LOG10", 1),
          Map.entry("LOG2", 1),
          Map.entry("POWER", 1),
          Map.entry("SIN", 1),
          Map.entry("TAN", 1));

  private static final Set<String> TRIMS =
      Set.of("TRIM", "TRIM LEADING", "TRIM TRAILING", "BTRIM", "LTRIM", "RTRIM");

  private static final Set<String> TIMESTAMP_PARSERS = Set.of("TO_TIMESTAMP", "TO_TIMESTAMP_LTZ");

  private static final Set<String> NULL_TESTS =
      Set.of("IS NULL", "IS NOT NULL", "IS UNKNOWN", "IS NOT UNKNOWN");

  private static final Set<String> COMPARISONS =
      Set.of("=", "<>", "<", "<=", ">", ">=", "BETWEEN", "NOT BETWEEN", "IN", "NOT IN", "NULLIF");

  private static final long MICROS_SECONDS = Long.MAX_VALUE / 1_000_000 - 1;
  private static final Instant FIRST_JULIAN = instant(LocalDate.of(-4711, 1, 1));
  private static final Instant LAST_JULIAN = instant(LocalDate.of(5_874_897, 12, 31));
  private static final int MILLIS_LENGTH = "yyyy-MM-dd HH:mm:ss.SSS".length();

  /** A part of the expression, and the value that it has in each row. */
  private record Part(
      boolean isRoot,
      Expression expression,
      TypedExpression typed,
      List<Object> values,
      List<Part> operands) {

    Object value(int row) {
      return values.get(row);
    }

    DataType type() {
      return typed.type();
    }

    /** The name of a call's function, {@code TRY_CAST} or {@code CAST}; else empty. */
    String function() {
      if (expression instanceof Expression.Call call) {
        return call.function();
      } else if (expression instanceof Expression.Cast cast) {
        return cast.orNull() ? "TRY_CAST" : "CAST";
      }
      return "";
    }

    boolean isNullLiteral() {
      return expression instanceof Expression.Literal literal && literal.value() == null;
    }
  }

  private final List<Part> parts = new ArrayList<>();
  private final Part root;

  /**
   * @param resolver of expressions over the rows
   * @param evaluator of expressions over the rows: each one's values
   */
  KnownDifferences(
      Expression expression,
      ExpressionResolver resolver,
      Function<List<Expression>, List<List<Object>>> evaluator) {
    this.root = part(true, expression, resolver, evaluator);
  }

  private Part part(
      boolean isRoot,
      Expression expression,
      ExpressionResolver resolver,
      Function<List<Expression>, List<List<Object>>> evaluator) {
    List<Part> operands =
        operandsOf(expression).stream()
            .map(operand -> part(false, operand, resolver, evaluator))
            .toList();
    List<Object> values = evaluator.apply(List.of(expression)).get(0);
    Part part = new Part(isRoot, expression, resolver.resolve(expression), values, operands);
    parts.add(part);
    return part;
  }

  /** Whether the expression gives what it should in a row, beside Flink. */
  boolean admit(int row, Object ours, Object flinks) {
    if (ours instanceof Double a
        && flinks instanceof Double b
        && ULPS.containsKey(root.function())) {
      int ulps = ULPS.get(root.function());
      return Math.abs(a - b) <= ulps * Math.ulp(Math.max(Math.abs(a), Math.abs(b)));
    }
    if (ours instanceof RowFailure && isBeyondMicros(flinks)) {
      return true;
    }
    return parts.stream().anyMatch(part -> differs(part, row))
        || (isTree(root.expression()) && isChangedByPlanner(row, ours, flinks));
  }

  private boolean differs(Part part, int row) {
    String function = part.function();
    List<Object> arguments = part.operands().stream().map(operand -> operand.value(row)).toList();
    if (TRIMS.contains(function)) {
      return hasOddTrimSet(arguments);
    } else if (function.equals("TRY_CAST") || function.equals("CAST")) {
      return castDiffers(part, arguments.get(0), row);
    } else if (function.equals("TIMESTAMPADD") || function.equals("DATETIME_PLUS")) {
      return failsBeyondMicros(part, row);
    } else if (function.equals("TIMESTAMPDIFF")) {
      return arguments.stream().anyMatch(KnownDifferences::isBeyondJulianYears);
    } else if (function.equals("JSON_VALUE")) {
      // Flink unboxes it where another function takes it.
      return !part.isRoot() && part.type().id() == TypeId.BOOL && part.value(row) == null;
    }
    return TIMESTAMP_PARSERS.contains(function)
        ? !part.isRoot() && hasMoreDigits(arguments.get(0))
        : COMPARISONS.contains(function) && overflows(part, row);
  }

  private boolean castDiffers(Part cast, Object operand, int row) {
    boolean isTry = cast.function().equals("TRY_CAST");
    return isOfCastToText(cast)
        || failsBeyondMicros(cast, row)
        || (isTry && isNotFinite(operand))
        || (isTry && cast.type().id() == TypeId.TIMESTAMP_MICROS && isBeyondMicros(operand))
        || (!cast.isRoot() && keepsDigits(cast.type(), operand));
  }

  /** The planner may leave out the cast to a text. */
  private static boolean isOfCastToText(Part cast) {
    Part operand = cast.operands().get(0);
    return operand.type().id() == TypeId.STRING && operand.function().endsWith("CAST");
  }

  private static boolean failsBeyondMicros(Part part, int row) {
    return part.value(row) instanceof RowFailure && part.type().id() == TypeId.TIMESTAMP_MICROS;
  }

  /** Flink counts the digits of a fraction without the zeros in front, so that it drops too few. */
  private static boolean keepsDigits(DataType type, Object timestamp) {
    if (!type.isTimestamp()) {
      return false;
    }
    int nanos = instant(timestamp).get(ChronoField.NANO_OF_SECOND);
    return nanos < Math.pow(10, type.precision())
        && nanos % Math.round(Math.pow(10, 9 - type.precision())) != 0;
  }

  /** Flink takes a set that begins with a space for a space, and divides by an empty one's size. */
  private static boolean hasOddTrimSet(List<Object> arguments) {
    return arguments.size() > 1
        && arguments.get(1) instanceof String set
        && (set.isEmpty() || set.startsWith(" "));
  }

  /** Flink cannot make a decimal of these even in TRY_CAST. */
  private static boolean isNotFinite(Object value) {
    return value instanceof Number number && !Double.isFinite(number.doubleValue());
  }

  /** Flink keeps digits that the type of the timestamp does not have, until a row is stored. */
  private static boolean hasMoreDigits(Object argument) {
    return argument instanceof Double
        || (argument instanceof String text && text.length() > MILLIS_LENGTH);
  }

  /** A column of TIMESTAMP(4..6) holds microseconds in 64 bits, which Flink's millis exceed. */
  private static boolean isBeyondMicros(Object timestamp) {
    return Math.abs(instant(timestamp).getEpochSecond()) > MICROS_SECONDS;
  }

  private static boolean isBeyondJulianYears(Object timestamp) {
    Instant instant = instant(timestamp);
    return instant.isBefore(FIRST_JULIAN) || instant.isAfter(LAST_JULIAN);
  }

  /** Flink's arithmetic of such dates overflows or fails, and columns may not hold them. */
  private static boolean isFarAway(Object timestamp) {
    return isBeyondMicros(timestamp) || isBeyondJulianYears(timestamp);
  }

  private static Instant instant(Object timestamp) {
    if (timestamp instanceof LocalDateTime local) {
      return local.toInstant(ZoneOffset.UTC);
    } else if (timestamp instanceof LocalDate date) {
      return date.atStartOfDay().toInstant(ZoneOffset.UTC);
    }
    return timestamp instanceof Instant zoned ? zoned : Instant.EPOCH;
  }

  private static boolean isTree(Expression expression) {
    return operandsOf(expression).stream().anyMatch(operand -> !operandsOf(operand).isEmpty());
  }

  private boolean isChangedByPlanner(int row, Object ours, Object flinks) {
    return parts.stream().anyMatch(part -> isFarAway(part.value(row)))
        || parts.stream().anyMatch(part -> !part.isRoot() && overflows(part, row))
        || (parts.stream().anyMatch(part -> COMPARISONS.contains(part.function()))
            && parts.stream().anyMatch(part -> isNaN(part.value(row))))
        || (ours instanceof RowFailure
            && !(flinks instanceof FailedRow)
            && parts.stream()
                .anyMatch(part -> part.isNullLiteral() || NULL_TESTS.contains(part.function())));
  }

  /**
   * A decimal that does not fit is null though its type is NOT NULL; what reads it then does not
   * look whether it is null, and computes with whatever is there.
   */
  private static boolean overflows(Part part, int row) {
    return part.value(row) == null
        && part.operands().stream().noneMatch(operand -> operand.value(row) == null)
        && mayOverflow(part.typed());
  }

  /** Whether null may be given for operands that are not; Flink's types do not say so. */
  static boolean mayOverflow(TypedExpression expression) {
    return expression.nodes().stream()
        .filter(node -> node instanceof TypedExpression.Call || node instanceof TypedExpression.Try)
        .filter(TypedExpression::nullable)
        .anyMatch(node -> node.operands().stream().noneMatch(TypedExpression::nullable));
  }

  /** The planner turns NOT (a < b) into a >= b or leaves it, and x = x into TRUE. */
  private static boolean isNaN(Object value) {
    return (value instanceof Double number && number.isNaN())
        || (value instanceof Float small && small.isNaN());
  }

  /**
   * Whether the planner makes something of the expression that it then refuses: it leaves out a
   * cast to a text between two others, and takes a temporal FLOOR for nullable that is not. It
   * refuses JSON where it is not a value of JSON_OBJECT or JSON_ARRAY.
   */
  static boolean admitRefusal(Expression expression, String cause) {
    if (RandomExpressions.functionsOf(expression).contains("JSON")) {
      return cause.contains("The JSON() function is currently only supported inside");
    }
    return isTree(expression)
        && cause.matches("(?s).*(from NUMERIC type to TIMESTAMP|CodeGenException|DateTime).*");
  }

  /**
   * Whether a tree may be compared: it calls none of the functions that are only near to Flink's,
   * and a planner does not simplify it: a FLOOR of a FLOOR is one to Flink. An interval is no
   * number to Flink, which refuses functions of numbers over it.
   */
  static boolean canCompare(Expression expression) {
    Set<String> functions = RandomExpressions.functionsOf(expression);
    return functions.stream().noneMatch(ULPS::containsKey)
        && !functions.contains("MINUS_DATE")
        && !expression.toString().matches(".*(FLOOR|CEIL)\\((FLOOR|CEIL)\\(.* TO .*");
  }
}
