// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.sql.planner.aggregate.KeyedAggregates;
import io.millrace.operators.sql.planner.node.NodeSpec;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.OutputTypes;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.window.WindowAggregatePlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * Aggregates by key and window.
 *
 * @param timeField the position of the time field in the input; empty for windows of processing
 *     time
 * @param properties of the window, behind the results
 * @param output the type of the output's rows
 * @param hostReasons why the host computes parts of it on a GPU
 */
@Internal
public record WindowAggregateSpec(
    KeyedAggregates aggregates,
    WindowShape shape,
    OptionalInt timeField,
    List<WindowColumn> properties,
    RowType output,
    List<String> hostReasons)
    implements NodeSpec {
  public WindowAggregateSpec {
    properties = List.copyOf(properties);
    hostReasons = List.copyOf(hostReasons);
  }

  /**
   * The specification, if it can be planned.
   *
   * @param input the columns of the input as far as they are known
   * @throws UnsupportedNodeException if it cannot, or if a result had another type than Flink's
   */
  static WindowAggregateSpec checked(
      KeyedAggregates aggregates,
      WindowShape shape,
      OptionalInt timeField,
      List<WindowColumn> properties,
      RowType output,
      Schema input,
      ExpressionSettings settings) {
    WindowAggregateSpec spec =
        new WindowAggregateSpec(
            aggregates.named(output.getFieldNames()),
            shape,
            timeField,
            properties,
            output,
            List.of());
    WindowAggregatePlan plan = spec.plan(input, settings);
    OutputTypes.check(spec.selected(plan.outputSchema(), settings).outputSchema(), output);
    return new WindowAggregateSpec(
        spec.aggregates, shape, timeField, spec.properties, output, plan.hostReasons());
  }

  /**
   * The aggregates over batches of {@code input}.
   *
   * @throws UnsupportedNodeException if an aggregate or the window is not supported
   */
  WindowAggregatePlan plan(Schema input, ExpressionSettings settings) {
    Optional<String> timeColumn =
        timeField.stream().mapToObj(field -> input.field(field).name()).findFirst();
    try {
      return new WindowAggregatePlan(
          input,
          aggregates.keyNames(input),
          shape.over(timeColumn),
          aggregates.aggregates(input),
          settings);
    } catch (IllegalArgumentException e) {
      throw new UnsupportedNodeException(e.getMessage());
    }
  }

  /** The fields of the output among the columns of a {@link WindowAggregatePlan}. */
  CalcPlan selected(Schema results, ExpressionSettings settings) {
    List<Expression> columns = new ArrayList<>();
    for (int i = 0; i < output.getFieldCount() - properties.size(); i++) {
      columns.add(Expressions.col(results.field(i).name()));
    }
    for (int i = 0; i < properties.size(); i++) {
      String name = output.getFieldNames().get(columns.size());
      columns.add(properties.get(i).expression().as(name));
    }
    return CalcPlan.of(results, settings).select(columns);
  }
}
