// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.flink.annotation.Internal;

/**
 * What was decided about a node.
 *
 * @param spec what the node is to do; null if it stays Flink's
 * @param reason why it stays Flink's; null if it does not
 * @param executed false if the plan only tells what would be: Flink's node is executed
 * @param <S> the specification of this kind of node
 */
@Internal
public record Decision<S extends NodeSpec>(S spec, String reason, boolean executed) {
  public static <S extends NodeSpec> Decision<S> kept(String reason) {
    return new Decision<>(null, reason, false);
  }

  /** Whether Millrace can do the work of the node. */
  public boolean isSupported() {
    return spec != null;
  }

  /** Whether Millrace's node is executed. */
  public boolean isReplaced() {
    return isSupported() && executed;
  }

  /**
   * The name of the node's class in plans.
   *
   * @param kind Flink's name of such nodes, such as "Calc"
   */
  public String typeName(String kind) {
    return KeptKinds.PREFIX + (isReplaced() ? "Millrace" : "") + kind;
  }

  /**
   * Adds to the terms of a node that EXPLAIN shows: the decision, and why nodes in front of it that
   * cannot say so themselves stay Flink's.
   */
  public RelWriter explain(RelWriter terms, RelNode node) {
    String kept = String.join("; ", keptInputs(node));
    return explainDecision(terms, node).itemIf("flink", kept, !kept.isEmpty());
  }

  /** Each node from which {@code node} gets rows through nodes that say nothing in EXPLAIN. */
  private static Set<String> keptInputs(RelNode node) {
    Set<String> kept = new LinkedHashSet<>();
    for (RelNode planned : node.getInputs()) {
      RelNode input = MillraceRel.planned(planned);
      if (!(input instanceof MillraceRel)) {
        kept.add(KeptKinds.kind(input) + ": " + KeptKinds.reason(input));
        kept.addAll(keptInputs(input));
      }
    }
    return kept;
  }

  private RelWriter explainDecision(RelWriter terms, RelNode node) {
    if (!isSupported()) {
      return terms.item("millrace", "no: " + reason);
    }
    if (!executed) {
      terms.item("millrace", "yes");
    }
    if (!node.getInputs().isEmpty()) {
      terms.item(
          "in", node.getInputs().stream().allMatch(MillraceRel::givesBatches) ? "batches" : "rows");
    }
    return terms.itemIf("host", spec.hostReasons(), !spec.hostReasons().isEmpty());
  }
}
