// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.expression.ptx.DeviceFunction;
import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Determines which expressions a generated kernel computes behind a branch, for rows that need
 * them: expressions that call a library function, which may be slow or fail. Values computed in a
 * branch are not available after it, so code shared by branches is repeated in each.
 */
final class ConditionalExpressions {
  // From this size on, repeating code in each branch might grow exponentially.
  private static final double MANY_NODES = 10_000;

  private final Set<TypedExpression> conditional = new HashSet<>();
  private final Map<TypedExpression, Integer> uses;
  private final boolean isLarge;

  /**
   * @param roots all expressions that the kernel computes for a row
   */
  ConditionalExpressions(List<TypedExpression> roots) {
    Set<TypedExpression> nodes = TypedExpression.nodes(roots);
    Map<TypedExpression, Double> treeSizes = new HashMap<>();
    for (TypedExpression node : nodes) {
      double treeSize = 1;
      boolean isConditional = callsLibrary(node);
      for (TypedExpression operand : node.operands()) {
        treeSize += treeSizes.get(operand);
        isConditional |= conditional.contains(operand);
      }
      treeSizes.put(node, treeSize);
      if (isConditional) {
        conditional.add(node);
      }
    }
    this.uses = uses(nodes);
    roots.forEach(root -> uses.merge(root, 1, Integer::sum));
    this.isLarge = roots.stream().mapToDouble(treeSizes::get).sum() > MANY_NODES;
  }

  /** Whether a kernel calls a function of the library for this expression itself. */
  static boolean callsLibrary(TypedExpression expression) {
    return expression
        .calledFunction()
        .flatMap(BoundFunction::device)
        .filter(DeviceFunction.LibraryFunction.class::isInstance)
        .isPresent();
  }

  /** Number of uses of each expression as an operand. */
  private static Map<TypedExpression, Integer> uses(Set<TypedExpression> nodes) {
    Map<TypedExpression, Integer> uses = new HashMap<>();
    for (TypedExpression node : nodes) {
      node.operands().forEach(operand -> uses.merge(operand, 1, Integer::sum));
    }
    return uses;
  }

  boolean contains(TypedExpression expression) {
    return conditional.contains(expression);
  }

  /**
   * Subexpressions of an expression with branches that must be computed before its first branch,
   * operands first. Empty unless the kernel is so large that code must not be repeated in branches;
   * then all subexpressions with other uses. Rows that do not need them compute them anyway. If one
   * fails for such a row, the host finds that it was not needed.
   */
  List<TypedExpression> sharedWithin(TypedExpression expression) {
    return sharedFrom(expression).stream().filter(node -> !node.equals(expression)).toList();
  }

  /** Like {@link #sharedWithin}, including the expression itself, which is computed in a branch. */
  List<TypedExpression> sharedFrom(TypedExpression expression) {
    if (!isLarge || !contains(expression)) {
      return List.of();
    }
    Set<TypedExpression> nodes = expression.nodes();
    Map<TypedExpression, Integer> usesWithin = uses(nodes);
    usesWithin.put(expression, 1);
    return nodes.stream()
        .filter(node -> !node.operands().isEmpty())
        .filter(node -> usesWithin.get(node) < uses.get(node))
        .toList();
  }
}
