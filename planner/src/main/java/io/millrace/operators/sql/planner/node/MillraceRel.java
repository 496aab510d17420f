// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;

/** A physical node about which Millrace has decided; a subclass of Flink's node of its kind. */
@Internal
public interface MillraceRel extends RelNode {
  Decision<?> decision();

  /** Flink's name of such nodes, such as "Calc". */
  String kind();

  /** The same node, which stays Flink's for {@code reason}. */
  RelNode kept(String reason);

  /** Whether consumers of {@code node} can take batches of it. */
  static boolean givesBatches(RelNode node) {
    return node instanceof MillraceRel rel && rel.decision().isSupported();
  }
}
