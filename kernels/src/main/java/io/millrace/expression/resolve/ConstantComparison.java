// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.Internal;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.TypedExpression.Call;
import io.millrace.expression.typed.TypedExpression.Literal;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * A comparison of a value with a constant: {@code value = 5} or {@code value <> 5}.
 *
 * @param value has the type of the constant
 * @param constant may be null
 */
@Internal
public record ConstantComparison(TypedExpression value, Literal constant) {

  /**
   * Finds the conditions that compare a value with a constant.
   *
   * @param symbol = or <>
   * @return one element per condition; empty if it is not such a comparison
   */
  public static List<Optional<ConstantComparison>> of(
      String symbol, List<TypedExpression> conditions) {
    List<TypedExpression> sides = new ArrayList<>(2 * conditions.size());
    for (TypedExpression condition : conditions) {
      if (compares(symbol, condition)) {
        sides.add(condition.operands().get(0));
        sides.add(condition.operands().get(1));
      }
    }
    Iterator<Optional<Literal>> literals = ConstantFolding.foldAll(sides).iterator();
    List<Optional<ConstantComparison>> comparisons = new ArrayList<>(conditions.size());
    for (TypedExpression condition : conditions) {
      comparisons.add(
          compares(symbol, condition)
              ? of(condition.operands(), literals.next(), literals.next())
              : Optional.empty());
    }
    return comparisons;
  }

  private static boolean compares(String symbol, TypedExpression condition) {
    return condition instanceof Call call
        && call.function().name().equals(symbol)
        && call.operands().size() == 2;
  }

  private static Optional<ConstantComparison> of(
      List<TypedExpression> sides, Optional<Literal> left, Optional<Literal> right) {
    if (left.isPresent() == right.isPresent()) {
      return Optional.empty();
    }
    return right.isPresent()
        ? Optional.of(new ConstantComparison(sides.get(0), right.orElseThrow()))
        : Optional.of(new ConstantComparison(sides.get(1), left.orElseThrow()));
  }
}
