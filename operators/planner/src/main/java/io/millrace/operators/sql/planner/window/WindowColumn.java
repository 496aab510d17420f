// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.window;

import io.millrace.column.DataType;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import io.millrace.operators.window.WindowAggregatePlan;
import java.util.List;
import org.apache.flink.table.planner.utils.JavaScalaConversionUtil;
import org.apache.flink.table.runtime.groupwindow.NamedWindowProperty;
import org.apache.flink.table.runtime.groupwindow.ProctimeAttribute;
import org.apache.flink.table.runtime.groupwindow.RowtimeAttribute;
import org.apache.flink.table.runtime.groupwindow.WindowEnd;
import org.apache.flink.table.runtime.groupwindow.WindowProperty;
import org.apache.flink.table.runtime.groupwindow.WindowStart;
import scala.collection.Seq;

/** What a result tells of its window. */
enum WindowColumn {
  START,
  END,
  ROWTIME,
  /** Has no value until a later node asks for the processing time. */
  PROCTIME;

  /** The column over the results of a {@link WindowAggregatePlan}. */
  Expression expression() {
    return switch (this) {
      case START -> Expressions.col(WindowAggregatePlan.WINDOW_START);
      case END -> Expressions.col(WindowAggregatePlan.WINDOW_END);
      case ROWTIME -> Expressions.col(WindowAggregatePlan.WINDOW_TIME);
      case PROCTIME -> Expressions.nullOf(DataType.timestamp(3, true));
    };
  }

  /**
   * The columns that a node's results have.
   *
   * @throws UnsupportedNodeException if the node has another property of windows
   */
  @SuppressWarnings("deprecation") // as Flink's nodes have them
  static List<WindowColumn> of(Seq<NamedWindowProperty> properties) {
    return JavaScalaConversionUtil.toJava(properties).stream()
        .map(property -> of(property.getProperty()))
        .toList();
  }

  @SuppressWarnings("deprecation") // as Flink's nodes have them
  private static WindowColumn of(WindowProperty property) {
    if (property instanceof WindowStart) {
      return START;
    }
    if (property instanceof WindowEnd) {
      return END;
    }
    if (property instanceof RowtimeAttribute) {
      return ROWTIME;
    }
    if (property instanceof ProctimeAttribute) {
      return PROCTIME;
    }
    throw new UnsupportedNodeException("property " + property + " of a window");
  }
}
