// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.calc;

import io.millrace.calc.Calc;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.sql.planner.node.NodeSpec;
import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.sql.planner.rex.InputColumns;
import io.millrace.operators.sql.planner.rex.PlannerTypes;
import io.millrace.operators.sql.planner.rex.RexConverter;
import io.millrace.operators.sql.planner.rex.UserFunctions;
import io.millrace.operators.transform.CalcPlan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * A filter and projections.
 *
 * @param projections of the fields of the output
 * @param condition of the rows that are kept; empty if all are
 * @param output the type of the output's rows
 * @param hostReasons why the host computes parts of it on a GPU
 * @param isWorkOfHost whether these parts are all that costs time in it
 */
@Internal
public record CalcSpec(
    List<RexNode> projections,
    Optional<RexNode> condition,
    RowType output,
    RexBuilder rexBuilder,
    List<String> hostReasons,
    boolean isWorkOfHost)
    implements NodeSpec {
  public CalcSpec {
    projections = List.copyOf(projections);
    hostReasons = List.copyOf(hostReasons);
  }

  public CalcSpec(
      List<RexNode> projections,
      Optional<RexNode> condition,
      RowType output,
      RexBuilder rexBuilder) {
    this(projections, condition, output, rexBuilder, List.of(), false);
  }

  /** All expressions. */
  public List<RexNode> expressions() {
    return Stream.concat(projections.stream(), condition.stream()).toList();
  }

  /** Whether it reads the watermark, so that all rows of a batch have to come behind the same. */
  boolean readsWatermark() {
    return calls(call -> call.getOperator().getName().equals("CURRENT_WATERMARK"));
  }

  /**
   * Checks that casts fail where Flink's do.
   *
   * @throws UnsupportedNodeException if they give NULL instead
   */
  public void checkCasts(PlanContext context) {
    if (context.hasLegacyCasts() && calls(call -> call.getKind() == SqlKind.CAST)) {
      throw new UnsupportedNodeException("CAST with table.exec.legacy-cast-behaviour");
    }
  }

  private boolean calls(Predicate<RexCall> sought) {
    return expressions().stream().anyMatch(node -> calls(node, sought));
  }

  private static boolean calls(RexNode node, Predicate<RexCall> sought) {
    return node instanceof RexCall call
        && (sought.test(call)
            || call.getOperands().stream().anyMatch(operand -> calls(operand, sought)));
  }

  /** The same calc, with what the host computes in {@code calc} on a GPU. */
  public CalcSpec evaluatedAs(Calc calc) {
    List<String> reasons = calc.hostReasons();
    boolean allOnHost = !reasons.isEmpty() && (calc.isTooLarge() || !calc.callsDeviceLibrary());
    return new CalcSpec(projections, condition, output, rexBuilder, reasons, allOnHost);
  }

  @Override
  public boolean isCheap() {
    return expressions().stream().allMatch(CheapExpressions::contains);
  }

  /**
   * The calc over batches of {@code input}.
   *
   * @throws UnsupportedNodeException if an expression is not supported
   */
  public CalcPlan plan(InputColumns input, ExpressionSettings settings) {
    UserFunctions userFunctions = UserFunctions.of(expressions());
    ExpressionSettings all = userFunctions.in(settings);
    RexConverter converter = new RexConverter(input, all, rexBuilder, userFunctions);
    try {
      CalcPlan plan = CalcPlan.of(input.schema(), all);
      if (condition.isPresent()) {
        plan = plan.filter(converter.convert(condition.get()));
      }
      CalcPlan selected = plan.select(projections(converter));
      return selected.as(nullableAsDeclared(selected.outputSchema()));
    } catch (ExpressionException e) {
      throw new UnsupportedNodeException(e.getMessage());
    }
  }

  private List<Expression> projections(RexConverter converter) {
    List<Expression> columns = new ArrayList<>();
    for (int i = 0; i < projections.size(); i++) {
      String name = output.getFieldNames().get(i);
      columns.add(converter.convert(projections.get(i)).as(name));
    }
    return columns;
  }

  // A column may have nulls where Flink's type or Millrace's says so.
  private Schema nullableAsDeclared(Schema schema) {
    List<Field> fields = new ArrayList<>();
    for (int i = 0; i < output.getFieldCount(); i++) {
      Field field = schema.field(i);
      boolean nullable = field.nullable() || PlannerTypes.isNullable(output.getTypeAt(i));
      fields.add(new Field(field.name(), field.type(), nullable));
    }
    Schema declared = new Schema(fields);
    return RowKindColumn.isIn(schema) ? RowKindColumn.addTo(declared) : declared;
  }
}
