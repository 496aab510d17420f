// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.expand;

import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.sql.planner.calc.CalcSpec;
import io.millrace.operators.sql.planner.node.NodeSpec;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.BatchColumns;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.ExpandTransform;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * Several projections of each row.
 *
 * @param projections without conditions
 * @param output the type of the output's rows
 */
@Internal
public record ExpandSpec(List<CalcSpec> projections, RowType output) implements NodeSpec {
  public ExpandSpec {
    projections = List.copyOf(projections);
  }

  /** The projections of a node. */
  static ExpandSpec of(List<List<RexNode>> projects, RowType output, RexBuilder rexBuilder) {
    return new ExpandSpec(
        projects.stream()
            .map(project -> new CalcSpec(project, Optional.empty(), output, rexBuilder))
            .toList(),
        output);
  }

  /**
   * The projections over batches of {@code input}.
   *
   * @throws UnsupportedNodeException if a column is not supported
   */
  List<CalcPlan> plans(Schema input, ExpressionSettings settings) {
    BatchColumns columns = new BatchColumns(input);
    return projections.stream().map(projection -> projection.plan(columns, settings)).toList();
  }

  /**
   * The columns of the output over batches of {@code input}.
   *
   * @throws UnsupportedNodeException if they are not supported
   */
  Schema outputSchema(Schema input, ExpressionSettings settings) {
    try {
      return ExpandTransform.outputSchema(plans(input, settings));
    } catch (IllegalArgumentException e) {
      throw new UnsupportedNodeException(e.getMessage());
    }
  }

  // Fields are chosen, beside literals.
  @Override
  public boolean isCheap() {
    return true;
  }
}
