// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.expression.typed.ConstantBytes;
import io.millrace.expression.typed.InputPath;
import io.millrace.expression.typed.ResultSizeLimit;
import io.millrace.expression.typed.TypedExpression;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;

/**
 * Maximum number of bytes of an expression in a row: {@code constant} plus the bytes of input
 * columns times their factors. Because the limit is linear, limits of consecutive rows add up to an
 * offset that follows from the input offsets.
 *
 * @param factors by input column
 */
record RowSizeLimit(long constant, Map<InputPath, Long> factors) {
  // More memory than any device has; greater limits are clamped to it.
  private static final long MOST = 1L << 50;

  RowSizeLimit {
    factors = Map.copyOf(factors);
  }

  /** The limit of a STRING or BINARY expression. */
  static RowSizeLimit of(TypedExpression expression) {
    Map<TypedExpression, RowSizeLimit> bounds = new HashMap<>();
    for (TypedExpression node : expression.nodes()) {
      if (node.type().id().isVariableWidth()) {
        bounds.put(node, of(node, bounds));
      }
    }
    return bounds.get(expression);
  }

  private static RowSizeLimit of(
      TypedExpression expression, Map<TypedExpression, RowSizeLimit> ofOperands) {
    Optional<InputPath> input = InputPath.of(expression);
    if (input.isPresent()) {
      return new RowSizeLimit(0, Map.of(input.orElseThrow(), 1L));
    } else if (expression instanceof TypedExpression.Literal literal) {
      return new RowSizeLimit(ConstantBytes.of(literal).length, Map.of());
    } else if (expression instanceof TypedExpression.Case branches) {
      return branches.results().stream()
          .map(ofOperands::get)
          .reduce(RowSizeLimit::max)
          .orElseThrow();
    }
    ResultSizeLimit bound = expression.calledFunction().orElseThrow().resultSizeLimit();
    RowSizeLimit sum = new RowSizeLimit(bound.constant(), Map.of());
    for (int i = 0; i < expression.operands().size(); i++) {
      if (bound.factor(i) > 0) {
        sum = sum.plus(ofOperands.get(expression.operands().get(i)), bound.factor(i));
      }
    }
    return sum;
  }

  private RowSizeLimit plus(RowSizeLimit other, long factor) {
    Map<InputPath, Long> sum = new HashMap<>(factors);
    other.factors.forEach(
        (input, count) -> sum.merge(input, product(count, factor), RowSizeLimit::sum));
    return new RowSizeLimit(sum(constant, product(other.constant, factor)), sum);
  }

  private RowSizeLimit max(RowSizeLimit other) {
    Map<InputPath, Long> most = new HashMap<>(factors);
    other.factors.forEach((input, count) -> most.merge(input, count, Math::max));
    return new RowSizeLimit(Math.max(constant, other.constant), most);
  }

  /**
   * The limit of all rows together, at most 1 PiB.
   *
   * @param columnBytes number of bytes of an input column
   */
  long bytes(long rows, ToLongFunction<InputPath> columnBytes) {
    long bytes = product(constant, rows);
    for (Map.Entry<InputPath, Long> factor : factors.entrySet()) {
      long column = columnBytes.applyAsLong(factor.getKey());
      bytes = sum(bytes, product(column, factor.getValue()));
    }
    return bytes;
  }

  private static long sum(long left, long right) {
    return Math.min(MOST, left + right);
  }

  private static long product(long left, long right) {
    boolean fits = Math.multiplyHigh(left, right) == 0 && left * right >= 0;
    return fits ? Math.min(MOST, left * right) : MOST;
  }
}
