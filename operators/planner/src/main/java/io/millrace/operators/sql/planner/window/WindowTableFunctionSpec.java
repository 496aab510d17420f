// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.sql.planner.node.NodeSpec;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.transform.CalcPlan;
import io.millrace.operators.transform.RepeatTransform;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * Rows with the windows that they belong to: the fields of the input, then the start, the end and
 * the time of the window.
 *
 * @param timeField the position of the time field in the input; empty for windows of processing
 *     time
 * @param output the type of the output's rows
 * @param hostReasons why the host computes parts of it on a GPU
 */
@Internal
public record WindowTableFunctionSpec(
    AlignedWindows windows, OptionalInt timeField, RowType output, List<String> hostReasons)
    implements NodeSpec {
  /** The number of a copy of a row, where a row belongs to several windows. */
  static final String NUMBER = "$window";

  private static final DataType TIMESTAMP = DataType.timestamp(3);
  private static final DataType INSTANT = DataType.timestamp(3, true);

  public WindowTableFunctionSpec {
    hostReasons = List.copyOf(hostReasons);
  }

  /** The columns that the windows are computed of. */
  Schema repeatedSchema(Schema input) {
    return windows.isTumbling() ? input : RepeatTransform.outputSchema(input, NUMBER);
  }

  /**
   * The output over batches of {@link #repeatedSchema}.
   *
   * @param input the columns of the input
   * @throws UnsupportedNodeException if there is no such plan
   */
  CalcPlan plan(Schema input, ExpressionSettings settings) {
    try {
      CalcPlan rows = CalcPlan.of(repeatedSchema(input), settings);
      Expression time = localTime(input);
      Expression number = windows.isTumbling() ? lit(0) : col(NUMBER);
      Expression start = plusMillis(time, windows.startAfter(sinceOffset(time), number));
      Expression end = plusMillis(time, windows.endAfter(sinceOffset(time), number));
      CalcPlan timed = timeField.isPresent() ? rows.filter(timeColumn(input).isNotNull()) : rows;
      CalcPlan windowed =
          windows.isTumbling() ? timed : timed.filter(windows.contains(sinceOffset(time), number));
      return windowed.select(columns(input, start, end));
    } catch (ExpressionException e) {
      throw new UnsupportedNodeException(e.getMessage());
    }
  }

  private Expression timeColumn(Schema input) {
    return col(input.field(timeField.orElseThrow()).name());
  }

  /** The time of a row in the session's zone. */
  private Expression localTime(Schema input) {
    return timeField.isPresent()
        ? timeColumn(input).cast(TIMESTAMP)
        : call("LOCALTIMESTAMP").cast(TIMESTAMP);
  }

  /** The milliseconds from the offset of the windows to a time. */
  private Expression sinceOffset(Expression time) {
    LocalDateTime offset = LocalDateTime.ofEpochSecond(0, 0, ZoneOffset.UTC).plus(windows.offset());
    return call("MINUS_DATE", time, lit(offset, TIMESTAMP), "SECOND");
  }

  private static Expression plusMillis(Expression time, Expression millis) {
    return call("DATETIME_PLUS", time, millis, "MILLISECOND");
  }

  private List<Expression> columns(Schema input, Expression start, Expression end) {
    List<Expression> columns = new ArrayList<>();
    RowKindColumn.rowFields(input).forEach(field -> columns.add(col(field.name())));
    List<Expression> ofWindow = List.of(start, end, windowTime(input, end));
    for (Expression column : ofWindow) {
      columns.add(column.as(output.getFieldNames().get(columns.size())));
    }
    return columns;
  }

  // The attribute of processing time has no value until a later node asks for it.
  private Expression windowTime(Schema input, Expression end) {
    if (timeField.isEmpty()) {
      return nullOf(INSTANT);
    }
    boolean isInstant = input.type(timeField.getAsInt()).withTimeZone();
    Expression last = plusMillis(end, lit(-1L));
    return isInstant ? last.cast(INSTANT) : last;
  }
}
