// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * Replaces the input columns of expressions, and row numbers, by other expressions. Not
 * thread-safe.
 */
@Internal
public final class Substitution {
  private final List<TypedExpression> columns;
  private final TypedExpression rowNumber;
  private final IdentityHashMap<TypedExpression, TypedExpression> known = new IdentityHashMap<>();

  /**
   * @param columns replacements by input column index
   */
  public Substitution(List<TypedExpression> columns) {
    this(columns, new RowNumber());
  }

  /**
   * @param columns replacements by input column index
   * @param rowNumber replacement of each {@link RowNumber}
   */
  public Substitution(List<TypedExpression> columns, TypedExpression rowNumber) {
    this.columns = columns;
    this.rowNumber = rowNumber;
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
        node -> known.put(node, replacement(node)));
    return known.get(expression);
  }

  private TypedExpression replacement(TypedExpression node) {
    if (node instanceof TypedExpression.InputReference reference) {
      return columns.get(reference.index());
    } else if (node instanceof RowNumber) {
      return rowNumber;
    }
    return node.withOperands(node.operands().stream().map(known::get).toList());
  }

  public List<TypedExpression> all(List<TypedExpression> expressions) {
    List<TypedExpression> results = new ArrayList<>(expressions.size());
    for (TypedExpression expression : expressions) {
      results.add(apply(expression));
    }
    return List.copyOf(results);
  }
}
