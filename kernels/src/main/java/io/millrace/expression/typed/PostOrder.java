// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import io.millrace.annotation.Internal;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/** Traverses graphs in post-order without recursion, so that depth is unlimited. */
@Internal
public final class PostOrder {
  private PostOrder() {}

  /**
   * Computes a value for each node from the values of its operands.
   *
   * @param value called once per node object, with the node and its operands' values
   * @return the value of {@code root}
   */
  public static <N, V> V fold(
      N root, Function<N, List<N>> operands, BiFunction<N, List<V>, V> value) {
    IdentityHashMap<N, V> known = new IdentityHashMap<>();
    visit(
        root,
        operands,
        known::containsKey,
        node ->
            known.put(
                node, value.apply(node, operands.apply(node).stream().map(known::get).toList())));
    return known.get(root);
  }

  /**
   * Visits {@code root} and its operands, except known nodes, in the order of a recursive
   * traversal.
   *
   * @param isKnown must return true for a node after its visit
   */
  public static <N> void visit(
      N root, Function<N, List<N>> operands, Predicate<N> isKnown, Consumer<N> visitor) {
    Deque<N> pending = new ArrayDeque<>();
    // Nodes of pending whose operands have been pushed above them.
    Deque<N> expanded = new ArrayDeque<>();
    pending.push(root);
    while (!pending.isEmpty()) {
      N node = pending.peek();
      if (node == expanded.peek()) {
        pending.pop();
        visitor.accept(expanded.pop());
      } else if (isKnown.test(node)) {
        pending.pop();
      } else {
        expanded.push(node);
        List<N> ofNode = operands.apply(node);
        for (int i = ofNode.size() - 1; i >= 0; i--) {
          pending.push(ofNode.get(i));
        }
      }
    }
  }
}
