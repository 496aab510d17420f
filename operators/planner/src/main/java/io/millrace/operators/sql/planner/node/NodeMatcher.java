// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides about the nodes of one kind.
 *
 * @param <R> Flink's node
 * @param <S> what Millrace's node is to do
 */
@Internal
public abstract class NodeMatcher<R extends RelNode, S extends NodeSpec> {
  private static final Logger LOG = LoggerFactory.getLogger(NodeMatcher.class);

  private final Class<R> type;
  private final String kind;

  /**
   * @param type of Flink's nodes
   * @param kind Flink's name of such nodes, such as "Calc"
   */
  protected NodeMatcher(Class<R> type, String kind) {
    this.type = type;
    this.kind = kind;
  }

  /**
   * What Millrace's node is to do in the place of {@code node}, whose inputs have been replaced.
   *
   * @throws UnsupportedNodeException with the reason why the node stays Flink's
   */
  protected abstract S match(R node, PlanContext context);

  /** The node with the decision about it, which is a {@link MillraceRel}. */
  protected abstract RelNode decided(R node, Decision<S> decision);

  /** The class of Flink's nodes. */
  public final Class<R> type() {
    return type;
  }

  /** Flink's name of such nodes, such as "Calc". */
  public final String kind() {
    return kind;
  }

  /** Whether this matcher decides about {@code node}, about which nothing has been decided. */
  public final boolean accepts(RelNode node) {
    return type.isInstance(node) && !(node instanceof MillraceRel);
  }

  /** The node with a decision about it. */
  public final RelNode replace(RelNode node, PlanContext context) {
    R accepted = type.cast(node);
    return decided(accepted, decide(accepted, context));
  }

  private Decision<S> decide(R node, PlanContext context) {
    if (context.isDisabled(kind)) {
      return Decision.kept("disabled by an option");
    }
    try {
      return new Decision<>(match(node, context), null, context.isExecuted());
    } catch (UnsupportedNodeException e) {
      return Decision.kept(e.getMessage());
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("Flink's operator runs {}", node, e);
      return Decision.kept("unexpected " + e);
    }
  }
}
