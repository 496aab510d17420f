// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.table;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.operators.row.SchemaConverter;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.flink.table.expressions.CallExpression;
import org.apache.flink.table.expressions.FieldReferenceExpression;
import org.apache.flink.table.expressions.ResolvedExpression;
import org.apache.flink.table.expressions.ValueLiteralExpression;
import org.apache.flink.table.functions.BuiltInFunctionDefinitions;
import org.apache.flink.table.functions.FunctionDefinition;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;
import org.apache.flink.table.types.logical.RowType;

/**
 * Conditions of a query as Millrace's expressions: comparisons of columns and literals of one type,
 * of integers or of strings, and what is made of them by AND, OR, NOT and IS NULL.
 */
final class PushedExpressions {
  private static final Map<FunctionDefinition, String> OPERATORS =
      Map.ofEntries(
          Map.entry(BuiltInFunctionDefinitions.EQUALS, "="),
          Map.entry(BuiltInFunctionDefinitions.NOT_EQUALS, "<>"),
          Map.entry(BuiltInFunctionDefinitions.GREATER_THAN, ">"),
          Map.entry(BuiltInFunctionDefinitions.GREATER_THAN_OR_EQUAL, ">="),
          Map.entry(BuiltInFunctionDefinitions.LESS_THAN, "<"),
          Map.entry(BuiltInFunctionDefinitions.LESS_THAN_OR_EQUAL, "<="));

  private final Schema schema;

  private PushedExpressions(Schema schema) {
    this.schema = schema;
  }

  /**
   * A condition over the columns of {@code schema}; empty if it has something else than the above.
   */
  static Optional<Expression> convert(ResolvedExpression condition, Schema schema) {
    return new PushedExpressions(schema).convert(condition);
  }

  private Optional<Expression> convert(ResolvedExpression expression) {
    if (expression instanceof FieldReferenceExpression field) {
      return schema.names().contains(field.getName())
          ? Optional.of(Expressions.col(field.getName()))
          : Optional.empty();
    }
    if (expression instanceof ValueLiteralExpression literal) {
      return literal(literal);
    }
    return expression instanceof CallExpression call
        ? call(call.getFunctionDefinition(), call.getResolvedChildren())
        : Optional.empty();
  }

  private Optional<Expression> call(
      FunctionDefinition function, List<ResolvedExpression> operands) {
    if (OPERATORS.containsKey(function)) {
      return areComparable(operands)
          ? binary(
              operands, (left, right) -> Expressions.call(OPERATORS.get(function), left, right))
          : Optional.empty();
    }
    if (function.equals(BuiltInFunctionDefinitions.AND)) {
      return binary(operands, Expression::and);
    }
    if (function.equals(BuiltInFunctionDefinitions.OR)) {
      return binary(operands, Expression::or);
    }
    if (operands.size() != 1) {
      return Optional.empty();
    }
    Optional<Expression> operand = convert(operands.get(0));
    if (function.equals(BuiltInFunctionDefinitions.NOT)) {
      return operand.map(Expression::not);
    }
    if (function.equals(BuiltInFunctionDefinitions.IS_NULL)) {
      return operand.map(Expression::isNull);
    }
    return function.equals(BuiltInFunctionDefinitions.IS_NOT_NULL)
        ? operand.map(Expression::isNotNull)
        : Optional.empty();
  }

  /** Combines two operands. */
  private interface Operator {
    Expression apply(Expression left, Expression right);
  }

  private Optional<Expression> binary(List<ResolvedExpression> operands, Operator operator) {
    Optional<Expression> result = convert(operands.get(0));
    for (ResolvedExpression operand : operands.subList(1, operands.size())) {
      Optional<Expression> right = convert(operand);
      result = result.flatMap(left -> right.map(value -> operator.apply(left, value)));
    }
    return result;
  }

  private static boolean areComparable(List<ResolvedExpression> operands) {
    LogicalType left = type(operands.get(0));
    LogicalType right = type(operands.get(1));
    return left.equals(right)
        || (left.is(LogicalTypeFamily.CHARACTER_STRING)
            && right.is(LogicalTypeFamily.CHARACTER_STRING))
        || (left.is(LogicalTypeFamily.INTEGER_NUMERIC)
            && right.is(LogicalTypeFamily.INTEGER_NUMERIC));
  }

  private static LogicalType type(ResolvedExpression expression) {
    return expression.getOutputDataType().getLogicalType().copy(true);
  }

  private static DataType columnType(LogicalType type) {
    return SchemaConverter.toSchema(RowType.of(type)).type(0);
  }

  private static Optional<Expression> literal(ValueLiteralExpression literal) {
    LogicalType type = literal.getOutputDataType().getLogicalType();
    Optional<?> value =
        switch (type.getTypeRoot()) {
          case BOOLEAN -> literal.getValueAs(Boolean.class);
          case TINYINT -> literal.getValueAs(Byte.class);
          case SMALLINT -> literal.getValueAs(Short.class);
          case INTEGER -> literal.getValueAs(Integer.class);
          case BIGINT -> literal.getValueAs(Long.class);
          case FLOAT -> literal.getValueAs(Float.class);
          case DOUBLE -> literal.getValueAs(Double.class);
          case DECIMAL -> literal.getValueAs(BigDecimal.class);
          case CHAR, VARCHAR -> literal.getValueAs(String.class);
          case DATE -> literal.getValueAs(LocalDate.class);
          case TIMESTAMP_WITHOUT_TIME_ZONE -> literal.getValueAs(LocalDateTime.class);
          case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> literal.getValueAs(Instant.class);
          default -> Optional.empty();
        };
    return value.map(each -> Expressions.lit(each, columnType(type)));
  }
}
