// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/** Puts expressions in the place of the input columns of others. Not thread-safe. */
@Internal
public final class Substitution {
  private final List<TypedExpression> columns;
  private final IdentityHashMap<TypedExpression, TypedExpression> known = new IdentityHashMap<>();

  /**
   * @param columns what each input column becomes
   */
  public Substitution(List<TypedExpression> columns) {
    this.columns = columns;
  }

  /**
   * What {@code expression} means over the inputs of the columns. Types and functions stay as they
   * were bound, and what was one object stays one.
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
