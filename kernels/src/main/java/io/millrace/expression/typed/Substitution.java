// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Replaces parts of expressions by other expressions, such as the input columns. Not thread-safe.
 */
@Internal
public final class Substitution {
  private final Function<TypedExpression, Optional<TypedExpression>> replacements;
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
    this(
        node ->
            node instanceof TypedExpression.InputReference reference
                ? Optional.of(columns.get(reference.index()))
                : node instanceof RowNumber ? Optional.of(rowNumber) : Optional.empty());
  }

  /**
   * @param replacements the replacement of a part, of the same type; empty if the part stays, with
   *     its operands replaced. Called at least once for each part that is not within a replaced one
   */
  public Substitution(Function<TypedExpression, Optional<TypedExpression>> replacements) {
    this.replacements = replacements;
  }

  /**
   * Rewrites {@code expression} in terms of the inputs of the replacements. Types and bindings do
   * not change, and shared operands stay shared.
   */
  public TypedExpression apply(TypedExpression expression) {
    PostOrder.visit(
        expression,
        node -> replacements.apply(node).isPresent() ? List.of() : node.operands(),
        known::containsKey,
        node -> known.put(node, replacements.apply(node).orElseGet(() -> withOperands(node))));
    return known.get(expression);
  }

  private TypedExpression withOperands(TypedExpression node) {
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
