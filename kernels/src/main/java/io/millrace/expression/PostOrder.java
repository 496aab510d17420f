package io.millrace.expression;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/** Walks graphs operands first, however deep they are: without recursion. */
final class PostOrder {
  private PostOrder() {}

  /**
   * Visits {@code root} and what it is made of, as far as it is not known, in the order of a
   * recursion.
   *
   * @param isKnown must be true of a node from its visit on
   */
  static <N> void visit(
      N root, Function<N, List<N>> operands, Predicate<N> isKnown, Consumer<N> visitor) {
    Deque<N> pending = new ArrayDeque<>();
    pending.push(root);
    while (!pending.isEmpty()) {
      N node = pending.peek();
      int before = pending.size();
      if (!isKnown.test(node)) {
        List<N> ofNode = operands.apply(node);
        for (int i = ofNode.size() - 1; i >= 0; i--) {
          if (!isKnown.test(ofNode.get(i))) {
            pending.push(ofNode.get(i));
          }
        }
      }
      if (pending.size() == before) {
        pending.pop();
        if (!isKnown.test(node)) {
          visitor.accept(node);
        }
      }
    }
  }
}
