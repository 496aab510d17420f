// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalIntermediateTableScan;

/** A physical node about which Millrace has decided; a subclass of Flink's node of its kind. */
@Internal
public interface MillraceRel extends RelNode {
  Decision<?> decision();

  /** Flink's name of such nodes, such as "Calc". */
  String kind();

  /** The same node, which stays Flink's for {@code reason}. */
  RelNode kept(String reason);

  /** Whether its output is that of a first phase, which only Millrace's second phase can take. */
  default boolean givesPartials() {
    return false;
  }

  /** Whether it is such a second phase. */
  default boolean takesPartials() {
    return false;
  }

  /** Whether consumers of {@code node} can take batches of it. */
  static boolean givesBatches(RelNode node) {
    return planned(node) instanceof MillraceRel rel && rel.decision().isSupported();
  }

  /**
   * The node whose output {@code node} gives. Flink plans the parts of a plan that several sinks
   * share by themselves, and tables stand for them in the other parts. Of a scan that several nodes
   * share, it gives each of them the columns that it reads, by a Calc that batches pass by.
   */
  static RelNode planned(RelNode node) {
    if (node instanceof StreamPhysicalIntermediateTableScan scan) {
      return planned(scan.intermediateTable().relNode());
    }
    return ChosenColumns.isChoice(node) ? planned(node.getInput(0)) : node;
  }

  /**
   * The first phase in front of the exchange that is the input of a second phase.
   *
   * @param type of Millrace's first phase
   * @throws UnsupportedNodeException if the first phase or the exchange stays Flink's
   */
  static <R extends MillraceRel> R firstPhase(RelNode secondPhase, Class<R> type) {
    RelNode exchange = secondPhase.getInput(0);
    if (givesBatches(exchange) && type.isInstance(exchange.getInput(0))) {
      return type.cast(exchange.getInput(0));
    }
    throw new UnsupportedNodeException("its first phase stays Flink's");
  }

  /**
   * Checks that a node's input gives batches.
   *
   * @throws UnsupportedNodeException if it gives rows
   */
  static void requireBatches(RelNode input) {
    if (!givesBatches(input)) {
      throw new UnsupportedNodeException("its input gives rows");
    }
  }
}
