// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Assigns equal numbers to equal expressions. Takes time linear in the number of objects, however
 * often they are shared: an expression is identified by its operation and the numbers of its
 * operands.
 *
 * <p>The algorithm is local value numbering: Cocke and Schwartz, Programming Languages and Their
 * Compilers, 1970.
 */
@Internal
public final class ValueNumbering {

  /**
   * Identity of an expression.
   *
   * @param properties see {@link TypedExpression#properties}
   * @param operands value numbers, less than the number of this value
   */
  public record Value(
      Class<? extends TypedExpression> kind, List<Object> properties, List<Integer> operands) {}

  private final IdentityHashMap<TypedExpression, Integer> known = new IdentityHashMap<>();
  private final Map<Value, Integer> numbers = new LinkedHashMap<>();
  // By number: the first expression with the number, and its copy made of shared operands.
  private final List<TypedExpression> firsts = new ArrayList<>();
  private final List<TypedExpression> shared = new ArrayList<>();

  /** The value number of the expression, from 0 on. */
  public int number(TypedExpression expression) {
    if (isKnown(expression.operands())) {
      known.computeIfAbsent(expression, this::newNumber);
    } else {
      PostOrder.visit(
          expression,
          TypedExpression::operands,
          known::containsKey,
          node -> known.put(node, newNumber(node)));
    }
    return known.get(expression);
  }

  private boolean isKnown(List<TypedExpression> expressions) {
    for (TypedExpression expression : expressions) {
      if (!known.containsKey(expression)) {
        return false;
      }
    }
    return true;
  }

  private Integer newNumber(TypedExpression expression) {
    List<Integer> operands = new ArrayList<>(expression.operands().size());
    for (TypedExpression operand : expression.operands()) {
      operands.add(known.get(operand));
    }
    Value value = new Value(expression.getClass(), expression.properties(), operands);
    Integer number = numbers.putIfAbsent(value, numbers.size());
    if (number == null) {
      number = firsts.size();
      firsts.add(expression);
    }
    return number;
  }

  /**
   * Returns an equal expression in which equal subexpressions are one object, also across earlier
   * calls, so that comparing them takes constant time.
   */
  public TypedExpression share(TypedExpression expression) {
    int number = number(expression);
    while (shared.size() < firsts.size()) {
      TypedExpression first = firsts.get(shared.size());
      List<TypedExpression> operands = new ArrayList<>(first.operands().size());
      for (TypedExpression operand : first.operands()) {
        operands.add(shared.get(known.get(operand)));
      }
      TypedExpression next = isMadeOf(first, operands) ? first : first.withOperands(operands);
      shared.add(next);
      known.put(next, shared.size() - 1);
    }
    return shared.get(number);
  }

  @SuppressWarnings("ReferenceEquality") // equal ones must become one object
  private static boolean isMadeOf(TypedExpression expression, List<TypedExpression> operands) {
    for (int i = 0; i < operands.size(); i++) {
      if (expression.operands().get(i) != operands.get(i)) {
        return false;
      }
    }
    return true;
  }

  /** The numbered values in the order of their numbers. */
  public List<Value> values() {
    return List.copyOf(numbers.keySet());
  }

  static boolean areEqual(TypedExpression left, TypedExpression right) {
    ValueNumbering values = new ValueNumbering();
    return values.number(left) == values.number(right);
  }
}
