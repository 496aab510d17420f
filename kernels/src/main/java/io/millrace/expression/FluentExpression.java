// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import io.millrace.expression.error.ExpressionException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Methods that combine expressions, named as in Flink's Table API. An argument that is not an
 * {@link Expression} becomes a literal, see {@link Expressions#lit}.
 */
@PublicEvolving
public interface FluentExpression {

  private Expression self() {
    return (Expression) this;
  }

  private Expression binary(String function, Object right) {
    return Expression.Call.of(function, self(), right);
  }

  private Expression callWithRest(String function, Object... rest) {
    return Expression.Call.of(
        function, Stream.concat(Stream.of(self()), Arrays.stream(rest)).toArray());
  }

  private SortKey sortKey(boolean descending) {
    if (self() instanceof Expression.ColumnReference column) {
      return SortKey.of(column.name(), descending);
    }
    throw new ExpressionException(
        "expected a column to sort by, got " + this + ": add it with withColumn first");
  }

  /** Names the output column of this expression. */
  default Expression as(String name) {
    return new Expression.Alias(self(), name);
  }

  /** The field {@code name} of this ROW, SQL {@code row.name}: null if the row is null. */
  default Expression field(String name) {
    return new Expression.FieldAccess(self(), name);
  }

  /** SQL {@code =}: null if either side is null. */
  default Expression isEqual(Object right) {
    return binary("=", right);
  }

  /** Short form of {@link #isEqual}. */
  default Expression eq(Object right) {
    return isEqual(right);
  }

  /** SQL {@code <>}: null if either side is null. */
  default Expression isNotEqual(Object right) {
    return binary("<>", right);
  }

  /** Short form of {@link #isNotEqual}. */
  default Expression ne(Object right) {
    return isNotEqual(right);
  }

  /** Greater than. */
  default Expression gt(Object right) {
    return binary(">", right);
  }

  /** Greater than or equal. */
  default Expression ge(Object right) {
    return binary(">=", right);
  }

  /** Less than. */
  default Expression lt(Object right) {
    return binary("<", right);
  }

  /** Less than or equal. */
  default Expression le(Object right) {
    return binary("<=", right);
  }

  default Expression and(Object right) {
    return binary("AND", right);
  }

  default Expression or(Object right) {
    return binary("OR", right);
  }

  default Expression not() {
    return Expression.Call.of("NOT", self());
  }

  default Expression isNull() {
    return Expression.Call.of("IS NULL", self());
  }

  default Expression isNotNull() {
    return Expression.Call.of("IS NOT NULL", self());
  }

  default Expression plus(Object right) {
    return binary("+", right);
  }

  default Expression minus(Object right) {
    return binary("-", right);
  }

  default Expression times(Object right) {
    return binary("*", right);
  }

  default Expression dividedBy(Object right) {
    return binary("/", right);
  }

  default Expression mod(Object right) {
    return binary("MOD", right);
  }

  default Expression negate() {
    return Expression.Call.of("NEGATE", self());
  }

  default Expression between(Object low, Object high) {
    return Expression.Call.of("BETWEEN", self(), low, high);
  }

  default Expression in(Object... values) {
    return callWithRest("IN", values);
  }

  default Expression like(String pattern) {
    return binary("LIKE", pattern);
  }

  /** {@code CAST}: a value that cannot be converted fails the job. */
  default Expression cast(DataType type) {
    return new Expression.Cast(self(), type, false);
  }

  /** {@code TRY_CAST}: a value that cannot be converted gives null. */
  default Expression tryCast(DataType type) {
    return new Expression.Cast(self(), type, true);
  }

  /** This value, or the first non-null value of {@code others} if this value is null. */
  default Expression coalesce(Object... others) {
    return callWithRest("COALESCE", others);
  }

  /** {@code result} if this condition is true, otherwise {@code otherwise}. */
  default Expression then(Object result, Object otherwise) {
    return new Expression.Case(
        List.of(self()), List.of(Expression.of(result), Expression.of(otherwise)));
  }

  default Expression substring(Object begin, Object length) {
    return Expression.Call.of("SUBSTRING", self(), begin, length);
  }

  default Expression charLength() {
    return Expression.Call.of("CHAR_LENGTH", self());
  }

  default Expression upperCase() {
    return Expression.Call.of("UPPER", self());
  }

  default Expression lowerCase() {
    return Expression.Call.of("LOWER", self());
  }

  /**
   * Ascending sort key for this column, with nulls first.
   *
   * @throws ExpressionException if this expression is not a column
   */
  default SortKey asc() {
    return sortKey(false);
  }

  /**
   * Descending sort key for this column, with nulls last.
   *
   * @throws ExpressionException if this expression is not a column
   */
  default SortKey desc() {
    return sortKey(true);
  }

  default Expression abs() {
    return Expression.Call.of("ABS", self());
  }
}
