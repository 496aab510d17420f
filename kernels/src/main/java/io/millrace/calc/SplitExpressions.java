// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.expression.typed.BatchValue;
import io.millrace.expression.typed.InputPath;
import io.millrace.expression.typed.RowNumber;
import io.millrace.expression.typed.Substitution;
import io.millrace.expression.typed.TypedExpression;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Divides the expressions of a calc into three parts: columns that are computed first, host values
 * that are computed from them by the host, and the rest, which is computed from both.
 *
 * <p>A host value is a call that only the host can compute, or the outermost branch that may not
 * evaluate such a call: which rows need the call is then decided where it is evaluated. A part
 * without host values is a column if it is evaluated for all rows anyway. Of others, which might
 * fail for rows that do not need them, only the input columns are.
 */
final class SplitExpressions {
  private final Set<TypedExpression> hostParts = new HashSet<>();
  private final Set<TypedExpression> evaluatedAlways = new HashSet<>();
  private final Map<TypedExpression, Integer> hostColumns = new LinkedHashMap<>();
  private final Map<TypedExpression, Integer> restColumns = new LinkedHashMap<>();
  private final Optional<TypedExpression> hostCondition;
  private final List<TypedExpression> hostValues;
  private final List<TypedExpression> rest;

  /**
   * @param hostCondition the condition, or the part of it, that the host evaluates; the other
   *     expressions are needed for the rows that satisfy it
   */
  SplitExpressions(Optional<TypedExpression> hostCondition, List<TypedExpression> expressions) {
    List<TypedExpression> roots =
        Stream.concat(hostCondition.stream(), expressions.stream()).toList();
    for (TypedExpression node : TypedExpression.nodes(roots)) {
      if (CalcKernels.needsHost(node) || node.operands().stream().anyMatch(hostParts::contains)) {
        hostParts.add(node);
      }
    }
    findEvaluatedAlways(hostCondition.map(List::of).orElse(expressions));
    Substitution forHost = new Substitution(node -> column(node, hostColumns, 0));
    this.hostCondition = hostCondition.map(forHost::apply);
    List<TypedExpression> outermost = outermostOfHost(expressions);
    this.hostValues = forHost.all(outermost);
    Substitution behindHost =
        new Substitution(
            node ->
                outermost.contains(node)
                    ? Optional.of(reference(outermost.indexOf(node), node))
                    : column(node, restColumns, outermost.size()));
    this.rest = behindHost.all(expressions);
  }

  /** Whether the host is needed for {@code expression} or a part of it. */
  static boolean needsHost(TypedExpression expression) {
    return expression.nodes().stream().anyMatch(CalcKernels::needsHost);
  }

  private void findEvaluatedAlways(List<TypedExpression> roots) {
    Deque<TypedExpression> pending = new ArrayDeque<>(roots);
    while (!pending.isEmpty()) {
      TypedExpression node = pending.pop();
      if (evaluatedAlways.add(node)) {
        pending.addAll(alwaysEvaluatedOperands(node));
      }
    }
  }

  private static List<TypedExpression> alwaysEvaluatedOperands(TypedExpression node) {
    return isBranch(node) ? node.operands().subList(0, 1) : node.operands();
  }

  private static boolean isBranch(TypedExpression node) {
    return node instanceof TypedExpression.And
        || node instanceof TypedExpression.Or
        || node instanceof TypedExpression.Case;
  }

  private List<TypedExpression> outermostOfHost(List<TypedExpression> expressions) {
    Set<TypedExpression> outermost = new LinkedHashSet<>();
    Set<TypedExpression> visited = new HashSet<>();
    Deque<TypedExpression> pending = new ArrayDeque<>(expressions);
    while (!pending.isEmpty()) {
      TypedExpression node = pending.poll();
      if (!hostParts.contains(node) || !visited.add(node)) {
        continue;
      }
      if (CalcKernels.needsHost(node) || mayNotEvaluateHostParts(node)) {
        outermost.add(node);
      } else {
        pending.addAll(node.operands());
      }
    }
    return List.copyOf(outermost);
  }

  private boolean mayNotEvaluateHostParts(TypedExpression node) {
    return isBranch(node)
        && node.operands().subList(1, node.operands().size()).stream()
            .anyMatch(hostParts::contains);
  }

  /**
   * @param columns the columns of a part, to which the node is added if it is a column
   * @param first position of the first column among the inputs of the part
   */
  private Optional<TypedExpression> column(
      TypedExpression node, Map<TypedExpression, Integer> columns, int first) {
    boolean isColumn =
        !hostParts.contains(node)
            && (InputPath.of(node).isPresent()
                || node instanceof RowNumber
                || (evaluatedAlways.contains(node) && !isConstant(node)));
    if (!isColumn) {
      return Optional.empty();
    }
    int position = columns.computeIfAbsent(node, key -> columns.size());
    return Optional.of(reference(first + position, node));
  }

  private static boolean isConstant(TypedExpression node) {
    return node instanceof TypedExpression.Literal || node instanceof BatchValue;
  }

  private static TypedExpression reference(int index, TypedExpression node) {
    return new TypedExpression.InputReference(
        index, String.valueOf(index), node.type(), node.nullable());
  }

  /** The columns that are computed first: those that the host reads, and those of the rest. */
  List<TypedExpression> columns() {
    return Stream.concat(hostColumns.keySet().stream(), restColumns.keySet().stream())
        .distinct()
        .toList();
  }

  /** Positions of the columns that the host reads among {@link #columns}. */
  List<Integer> hostColumns() {
    return positions(hostColumns);
  }

  /** Positions of the columns that the rest reads among {@link #columns}. */
  List<Integer> restColumns() {
    return positions(restColumns);
  }

  private List<Integer> positions(Map<TypedExpression, Integer> ofPart) {
    List<TypedExpression> all = columns();
    return ofPart.keySet().stream().map(all::indexOf).toList();
  }

  /** The condition of the host, over {@link #hostColumns}. */
  Optional<TypedExpression> hostCondition() {
    return hostCondition;
  }

  /** The host values, over {@link #hostColumns}. */
  List<TypedExpression> hostValues() {
    return hostValues;
  }

  /** What {@link #rest} reads: the host values followed by {@link #restColumns}. */
  List<TypedExpression> inputsOfRest() {
    return Stream.concat(hostValues.stream(), restColumns.keySet().stream()).toList();
  }

  /** The expressions, over the host values followed by {@link #restColumns}. */
  List<TypedExpression> rest() {
    return rest;
  }
}
