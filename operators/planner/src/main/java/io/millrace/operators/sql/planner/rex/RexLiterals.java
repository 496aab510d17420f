// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.column.DataType;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.vector.TimestampNanos;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import java.math.BigDecimal;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.util.NlsString;
import org.apache.calcite.util.TimestampString;
import org.apache.flink.table.api.JsonOnNull;
import org.apache.flink.table.api.JsonQueryWrapper;
import org.apache.flink.table.planner.utils.TimestampStringUtils;

/** The planner's literals, with the types that the planner gave them. */
final class RexLiterals {
  private RexLiterals() {}

  static Expression convert(RexLiteral literal) {
    DataType type = RexConverter.type(literal);
    if (literal.isNull()) {
      return Expressions.nullOf(type);
    }
    return switch (type.id()) {
      case BOOL -> new Expression.Literal(literal.getValueAs(Boolean.class), type);
      case INT8, INT16, INT32, INT64 ->
          new Expression.Literal(number(literal).longValueExact(), type);
      case FLOAT32 -> new Expression.Literal(number(literal).floatValue(), type);
      case FLOAT64 -> new Expression.Literal(number(literal).doubleValue(), type);
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          new Expression.Literal(number(literal).setScale(type.scale()), type);
      case STRING -> new Expression.Literal(literal.getValueAs(String.class), type);
      case BINARY -> Expression.Literal.of(literal.getValueAs(byte[].class), type);
      case DATE, TIME ->
          new Expression.Literal(literal.getValueAs(Integer.class).longValue(), type);
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> timestamp(literal, type);
      default -> throw new UnsupportedNodeException("literal of " + type);
    };
  }

  private static BigDecimal number(RexLiteral literal) {
    return literal.getValueAs(BigDecimal.class);
  }

  // A literal with a time zone counts in UTC.
  private static Expression timestamp(RexLiteral literal, DataType type) {
    LocalDateTime time =
        TimestampStringUtils.toLocalDateTime(literal.getValueAs(TimestampString.class));
    long second = time.toEpochSecond(ZoneOffset.UTC);
    long millis = second * 1_000 + time.get(ChronoField.MILLI_OF_SECOND);
    return switch (type.id()) {
      case TIMESTAMP_MILLIS -> new Expression.Literal(millis, type);
      case TIMESTAMP_MICROS ->
          new Expression.Literal(second * 1_000_000 + time.get(ChronoField.MICRO_OF_SECOND), type);
      default ->
          new Expression.Literal(
              new TimestampNanos(millis, time.get(ChronoField.NANO_OF_SECOND) % 1_000_000), type);
    };
  }

  /** Whether a node is a word of SQL, such as a unit of time. */
  static boolean isSymbol(RexNode node) {
    return node instanceof RexLiteral literal
        && literal.getType().getSqlTypeName() == SqlTypeName.SYMBOL;
  }

  /**
   * The word of SQL that a node is, such as a unit of time: the name of Calcite's constant, also
   * where the planner has a constant of Flink's.
   */
  static String symbol(RexNode node) {
    if (node instanceof RexLiteral literal && literal.getValue() instanceof Enum<?> word) {
      if (word instanceof JsonOnNull) {
        return word.name() + "_ON_NULL";
      }
      return word instanceof JsonQueryWrapper && word != JsonQueryWrapper.WITHOUT_ARRAY
          ? "WITH_" + word.name()
          : word.name();
    }
    throw new UnsupportedNodeException("expected a word of SQL, got " + node);
  }

  /**
   * The text of a literal.
   *
   * @throws UnsupportedNodeException if {@code node} is another expression
   */
  static String text(RexNode node) {
    if (node instanceof RexLiteral literal && literal.getValue() instanceof NlsString) {
      return literal.getValueAs(String.class);
    }
    throw new UnsupportedNodeException("expected a text, got " + node);
  }
}
