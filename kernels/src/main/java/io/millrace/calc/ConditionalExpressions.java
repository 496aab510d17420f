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
 * Which expressions of a generated kernel a row computes only if it needs them, behind a branch:
 * those that call a function of the library, which may be slow or fail. What has been computed in a
 * branch is not known behind it, so what branches share is written in each of them.
 */
final class ConditionalExpressions {
  // From here on code that is written again in each branch might grow without measure.
  private static final double MANY_NODES = 10_000;

  private final Set<TypedExpression> conditional = new HashSet<>();
  private final Map<TypedExpression, Integer> uses;
  private final boolean isLarge;

  /**
   * @param roots all that the kernel computes in a row
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

  private static boolean callsLibrary(TypedExpression expression) {
    return expression
        .calledFunction()
        .flatMap(BoundFunction::device)
        .filter(DeviceFunction.LibraryFunction.class::isInstance)
        .isPresent();
  }

  /** How often each expression is an operand of the nodes. */
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
   * The parts of an expression with branches that are to be computed before the first of them,
   * operands first. There are none but where the kernel is so large that its code must not be
   * written again in each branch: then all that is used elsewhere too. Rows that do not need it
   * compute it in vain; if it fails for one of them, the host finds that it was not asked for.
   */
  List<TypedExpression> sharedWithin(TypedExpression expression) {
    return sharedFrom(expression).stream().filter(node -> !node.equals(expression)).toList();
  }

  /** As {@link #sharedWithin}, with the expression itself, which is computed in a branch. */
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
