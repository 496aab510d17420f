// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

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
  private static final String PREFIX = "StreamPhysical";

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
    return PREFIX + (isReplaced() ? "Millrace" : "") + kind;
  }

  /** Adds to the terms of a node that EXPLAIN shows. */
  public RelWriter explain(RelWriter terms, RelNode node) {
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
