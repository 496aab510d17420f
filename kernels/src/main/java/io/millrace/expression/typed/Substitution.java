// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/** Replaces the input columns of expressions by other expressions. Not thread-safe. */
@Internal
public final class Substitution {
  private final List<TypedExpression> columns;
  private final IdentityHashMap<TypedExpression, TypedExpression> known = new IdentityHashMap<>();

  /**
   * @param columns replacements by input column index
   */
  public Substitution(List<TypedExpression> columns) {
    this.columns = columns;
  }

  /**
   * Rewrites {@code expression} in terms of the inputs of the replacements. Types and bindings do
   * not change, and shared operands stay shared.
   */
  public TypedExpression apply(TypedExpression expression) {
    PostOrder.visit(
        expression,
        TypedExpression::operands,
        known::containsKey,
        node ->
            known.put(
                node,
                node instanceof TypedExpression.InputReference reference
                    ? columns.get(reference.index())
                    : node.withOperands(node.operands().stream().map(known::get).toList())));
    return known.get(expression);
  }

  public List<TypedExpression> all(List<TypedExpression> expressions) {
    List<TypedExpression> results = new ArrayList<>(expressions.size());
    for (TypedExpression expression : expressions) {
      results.add(apply(expression));
    }
    return List.copyOf(results);
  }
}
