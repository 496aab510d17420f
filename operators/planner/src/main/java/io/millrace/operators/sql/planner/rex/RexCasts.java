// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.column.DataType;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.rex.RexCall;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlKind;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.utils.LogicalTypeCasts;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/** Casts: to the types of columns, and to lengths and precisions that columns do not have. */
final class RexCasts {
  private static final int MAX_LENGTH = Integer.MAX_VALUE;
  private static final int MILLI_DIGITS = 3;

  private RexCasts() {}

  static Expression convert(RexCall call, RexConverter converter) {
    RexNode operand = call.getOperands().get(0);
    LogicalType from = FlinkTypeFactory.toLogicalType(operand.getType());
    LogicalType to = FlinkTypeFactory.toLogicalType(call.getType());
    boolean orNull =
        call.getKind() == SqlKind.SAFE_CAST || call.getOperator().getName().equals("TRY_CAST");
    if (operand.getKind() == SqlKind.ROW && to.is(LogicalTypeRoot.ROW) && !orNull) {
      return row((RexCall) operand, call.getType(), converter);
    }
    if (from.is(LogicalTypeRoot.BITMAP) != to.is(LogicalTypeRoot.BITMAP)) {
      throw new UnsupportedNodeException("a cast to " + to.asSummaryString());
    }
    Expression value = converter.convert(operand);
    checkIntervals(call, operand);
    if (to.is(LogicalTypeFamily.CHARACTER_STRING)) {
      return ofLength(text(value, from, orNull), from, to);
    } else if (!to.getChildren().isEmpty() && !LogicalTypeCasts.supportsAvoidingCast(from, to)) {
      throw new UnsupportedNodeException("a cast to " + to.asSummaryString());
    }
    DataType target = RexConverter.type(call);
    Expression cast = cast(value, RexConverter.type(operand), target, orNull);
    return switch (target.id()) {
      case TIME -> ofPrecision(cast, from, to);
      case BINARY -> target.isBitmap() ? cast : ofLength(cast, from, to);
      default -> cast;
    };
  }

  // Each field is cast to its type; then the row gets the names.
  private static Expression row(RexCall row, RelDataType to, RexConverter converter) {
    List<Expression> fields = new ArrayList<>();
    for (RelDataTypeField field : to.getFieldList()) {
      RexNode value = row.getOperands().get(field.getIndex());
      fields.add(converter.cast(value, field.getType()));
    }
    return new Expression.Cast(
        new Expression.Call("ROW", fields), PlannerTypes.columnType("a ROW", to), false);
  }

  private static void checkIntervals(RexCall call, RexNode operand) {
    boolean isInterval = RexIntervals.isInterval(call) || RexIntervals.isInterval(operand);
    if (isInterval
        && call.getKind() != SqlKind.REINTERPRET
        && call.getType().getSqlTypeName().getFamily()
            != operand.getType().getSqlTypeName().getFamily()) {
      throw new UnsupportedNodeException("an interval in " + RexConverter.text(call));
    }
  }

  private static Expression cast(Expression value, DataType from, DataType target, boolean orNull) {
    return target.equals(from) ? value : new Expression.Cast(value, target, orNull);
  }

  private static Expression text(Expression value, LogicalType from, boolean orNull) {
    if (from.is(LogicalTypeFamily.CHARACTER_STRING)) {
      return value;
    }
    // A column does not know how many digits its times have.
    Expression shown =
        from.is(LogicalTypeRoot.TIME_WITHOUT_TIME_ZONE)
                && LogicalTypeChecks.getPrecision(from) < MILLI_DIGITS
            ? Expressions.call("CAST_TIME", value, LogicalTypeChecks.getPrecision(from))
            : value;
    return new Expression.Cast(shown, DataType.STRING, orNull);
  }

  // Characters of a text, or bytes.
  private static Expression ofLength(Expression value, LogicalType from, LogicalType to) {
    LogicalTypeFamily counted =
        to.is(LogicalTypeFamily.CHARACTER_STRING)
            ? LogicalTypeFamily.CHARACTER_STRING
            : LogicalTypeFamily.BINARY_STRING;
    int length = LogicalTypeChecks.getLength(to);
    boolean fits =
        to.isAnyOf(LogicalTypeRoot.VARCHAR, LogicalTypeRoot.VARBINARY)
            && (length == MAX_LENGTH
                || (from.is(counted) && LogicalTypeChecks.getLength(from) <= length));
    return fits ? value : Expressions.call("CAST_" + to.getTypeRoot().name(), value, length);
  }

  /** A time without the digits that {@code to} lacks: a TIME column has milliseconds anyhow. */
  static Expression ofPrecision(Expression time, RelDataType from, RelDataType to) {
    return ofPrecision(
        time, FlinkTypeFactory.toLogicalType(from), FlinkTypeFactory.toLogicalType(to));
  }

  private static Expression ofPrecision(Expression time, LogicalType from, LogicalType to) {
    int precision = LogicalTypeChecks.getPrecision(to);
    boolean fits =
        precision >= MILLI_DIGITS
            || (from.is(LogicalTypeRoot.TIME_WITHOUT_TIME_ZONE)
                && LogicalTypeChecks.getPrecision(from) <= precision);
    return fits ? time : Expressions.call("CAST_TIME", time, precision);
  }
}
