// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.aggregate;

import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.aggregate.GroupAggregatePlan;
import io.millrace.operators.sql.planner.node.NodeSpec;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.OutputTypes;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * Aggregates by key, in one phase or as the second of two.
 *
 * @param combines whether the input are combined rows of a first phase, whose input the aggregates
 *     are over; otherwise it is that input
 * @param givesUpdateBefore whether updates have the row before them too
 * @param output the type of the output's rows: keys, then results
 * @param hostReasons why the host computes parts of it on a GPU
 */
@Internal
public record GroupAggregateSpec(
    KeyedAggregates aggregates,
    boolean combines,
    boolean givesUpdateBefore,
    RowType output,
    List<String> hostReasons)
    implements NodeSpec {
  public GroupAggregateSpec {
    hostReasons = List.copyOf(hostReasons);
  }

  /**
   * The specification of a second phase, if it can be planned.
   *
   * @param first the first phase
   * @throws UnsupportedNodeException as {@link #checked} does
   */
  static GroupAggregateSpec ofSecondPhase(
      LocalGroupAggregateSpec first,
      boolean givesUpdateBefore,
      RowType output,
      ExpressionSettings settings) {
    KeyedAggregates aggregates = first.aggregates();
    Schema input = first.input();
    return first.combines()
        ? checked(aggregates, true, givesUpdateBefore, output, input, settings)
        : checked(
            aggregates.overKeysFirst(input),
            false,
            givesUpdateBefore,
            output,
            aggregates.schemaKeysFirst(input),
            settings);
  }

  /**
   * The specification, if it can be planned.
   *
   * @param input the columns that the aggregates are over, as far as they are known
   * @throws UnsupportedNodeException if it cannot, or if a result had another type than Flink's
   */
  static GroupAggregateSpec checked(
      KeyedAggregates aggregates,
      boolean combines,
      boolean givesUpdateBefore,
      RowType output,
      Schema input,
      ExpressionSettings settings) {
    KeyedAggregates named = aggregates.named(output.getFieldNames());
    GroupAggregatePlan plan = named.plan(input, settings);
    OutputTypes.check(plan.outputSchema(), output);
    List<String> reasons = new ArrayList<>(plan.hostReasons());
    for (int i = 0; i < plan.keptArguments().size(); i++) {
      reasons.addAll(plan.hostReasonsOfArgument(i));
    }
    return new GroupAggregateSpec(named, combines, givesUpdateBefore, output, reasons);
  }
}
