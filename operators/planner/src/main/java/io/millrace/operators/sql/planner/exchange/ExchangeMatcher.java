// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.exchange;

import io.millrace.operators.sql.planner.node.Decision;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeMatcher;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.PlannedInput;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.calcite.rel.RelDistribution;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalExchange;
import org.apache.flink.table.types.logical.RowType;

/**
 * Decides about an Exchange: it has to be given batches, and to send rows by keys or all rows to
 * one subtask.
 */
@Internal
public final class ExchangeMatcher extends NodeMatcher<StreamPhysicalExchange, ExchangeSpec> {
  public ExchangeMatcher() {
    super(StreamPhysicalExchange.class, ExchangeRel.KIND);
  }

  @Override
  protected ExchangeSpec match(StreamPhysicalExchange exchange, PlanContext context) {
    MillraceRel.requireBatches(exchange.getInput());
    RowType output = FlinkTypeFactory.toLogicalRowType(exchange.getRowType());
    return new ExchangeSpec(keys(exchange.getDistribution(), output), output);
  }

  private static Optional<List<Integer>> keys(RelDistribution distribution, RowType output) {
    RelDistribution.Type type = distribution.getType();
    if (type == RelDistribution.Type.SINGLETON) {
      return Optional.empty();
    }
    if (type != RelDistribution.Type.HASH_DISTRIBUTED) {
      throw new UnsupportedNodeException("it sends rows by " + type);
    }
    List<Integer> keys = List.copyOf(distribution.getKeys());
    if (keys.isEmpty()) {
      return Optional.empty();
    }
    RowType keyFields = new RowType(keys.stream().map(output.getFields()::get).toList());
    PlannedInput.checkKeys(
        PlannedInput.schema(keyFields), IntStream.range(0, keys.size()).boxed().toList());
    return Optional.of(keys);
  }

  @Override
  protected RelNode decided(StreamPhysicalExchange exchange, Decision<ExchangeSpec> decision) {
    return new ExchangeRel(
        exchange.getCluster(),
        exchange.getTraitSet(),
        exchange.getInput(),
        exchange.getDistribution(),
        decision);
  }
}
