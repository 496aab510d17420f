// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.expression.typed.ConstantTable;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.expression.typed.TypedExpression.Case;
import io.millrace.expression.typed.TypedExpression.Literal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A CASE that compares one value with many constants. The value is looked up once, in a table that
 * gives the number of the result. Constant results are in a table too; other results become a CASE
 * on their numbers. The time per row does not depend on the number of constants, but grows with the
 * number of results that are not constants.
 */
final class ConstantCase {
  private final List<TypedExpression> conditions = new ArrayList<>();
  private final List<TypedExpression> results = new ArrayList<>();

  private ConstantCase() {}

  /** Rewrites the CASE with tables if this is faster. */
  static Case of(Case branches) {
    List<TypedExpression> conditions = branches.conditions();
    if (conditions.size() < ConstantLookup.MIN_CONSTANTS) {
      return branches;
    }
    List<Optional<ConstantComparison>> comparisons = ConstantComparison.of("=", conditions);
    ConstantCase result = new ConstantCase();
    int next = 0;
    while (next < conditions.size()) {
      int end = endOfRun(comparisons, next);
      if (end - next >= ConstantLookup.MIN_CONSTANTS) {
        result.addTable(comparisons.subList(next, end), branches.results().subList(next, end));
        next = end;
      } else {
        result.add(conditions.get(next), branches.results().get(next));
        next++;
      }
    }
    result.results.add(branches.results().get(conditions.size()));
    return new Case(result.conditions, result.results, branches.nullable());
  }

  /**
   * The end of the run of conditions from {@code start} on that compare one value with constants.
   */
  private static int endOfRun(List<Optional<ConstantComparison>> comparisons, int start) {
    int end = start;
    while (end < comparisons.size()
        && comparisons.get(end).isPresent()
        && value(comparisons, end).equals(value(comparisons, start))) {
      end++;
    }
    return end;
  }

  private static TypedExpression value(List<Optional<ConstantComparison>> comparisons, int index) {
    return comparisons.get(index).orElseThrow().value();
  }

  private void add(TypedExpression condition, TypedExpression result) {
    conditions.add(condition);
    results.add(result);
  }

  private void addTable(
      List<Optional<ConstantComparison>> comparisons, List<TypedExpression> ofBranches) {
    List<Literal> constants = new ArrayList<>();
    List<TypedExpression> taken = new ArrayList<>();
    Set<Object> known = new HashSet<>(2 * comparisons.size());
    for (int i = 0; i < comparisons.size(); i++) {
      Literal constant = comparisons.get(i).orElseThrow().constant();
      boolean isTaken = constant.value() != null && ConstantLookup.equalsItself(constant);
      // The first of equal constants wins; the table distinguishes 0.0 and -0.0.
      if (isTaken && known.add(constant.value())) {
        constants.add(constant);
        taken.add(ofBranches.get(i));
      }
    }
    if (constants.isEmpty()) {
      return;
    }
    Map<TypedExpression, Integer> constantResults = new LinkedHashMap<>();
    Map<TypedExpression, Integer> otherResults = new LinkedHashMap<>();
    // Other results are numbered by complement, since they follow the numbers of all constants.
    int[] numbers = new int[taken.size()];
    for (int i = 0; i < numbers.length; i++) {
      TypedExpression result = taken.get(i);
      boolean isConstant = result instanceof Literal literal && literal.value() != null;
      numbers[i] = isConstant ? number(constantResults, result) : ~number(otherResults, result);
    }
    for (int i = 0; i < numbers.length; i++) {
      numbers[i] = numbers[i] >= 0 ? numbers[i] : constantResults.size() + ~numbers[i];
    }
    TypedExpression value = value(comparisons, 0);
    TypedExpression position =
        ConstantLookup.position(value, new ConstantTable(constants, numbers, true));
    otherResults.forEach(
        (result, number) ->
            add(ConstantLookup.isAt(position, constantResults.size() + number), result));
    if (!constantResults.isEmpty()) {
      List<Literal> values = constantResults.keySet().stream().map(Literal.class::cast).toList();
      add(ConstantLookup.isFound(position), ConstantLookup.at(position, values));
    }
  }

  private static int number(Map<TypedExpression, Integer> numbers, TypedExpression result) {
    int next = numbers.size();
    Integer known = numbers.putIfAbsent(result, next);
    return known == null ? next : known;
  }
}
