// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.sql.planner.node.NodeSpec;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * The first phase of aggregates.
 *
 * @param aggregates over the fields of the input
 * @param input the columns of the input, as far as they are known
 * @param combines whether rows of a key are combined; if the aggregates do not allow it, the rows
 *     go to the second phase as they are, with their keys first
 * @param output the type of the rows that Flink's first phase gives
 */
@Internal
public record LocalGroupAggregateSpec(
    KeyedAggregates aggregates, Schema input, boolean combines, RowType output)
    implements NodeSpec {

  /**
   * The specification, if the aggregates can be planned.
   *
   * @throws UnsupportedNodeException if they cannot
   */
  static LocalGroupAggregateSpec checked(
      KeyedAggregates aggregates, Schema input, RowType output, ExpressionSettings settings) {
    aggregates.plan(input, settings);
    boolean combines = aggregates.twoPhasePlan(input, settings).isPresent();
    return new LocalGroupAggregateSpec(aggregates, input, combines, output);
  }
}
