// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.operators.sql.planner.node.NodeSpec;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * Aggregates by key and a part of a distinct argument, and behind them the first phase of
 * aggregates of their results by key.
 *
 * @param partial the second phase of the aggregates by more keys, with the rows before updates
 * @param last the first phase over the changes of its results
 */
@Internal
public record IncrementalGroupAggregateSpec(
    GroupAggregateSpec partial, LocalGroupAggregateSpec last) implements NodeSpec {
  @Override
  public List<String> hostReasons() {
    return partial.hostReasons();
  }
}
