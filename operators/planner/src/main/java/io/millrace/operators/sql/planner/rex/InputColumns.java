// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.flink.annotation.Internal;

/** The columns of an expression's input. */
@Internal
public interface InputColumns {
  /** The schema of the input's batches, perhaps with a row-kind column behind. */
  Schema schema();

  /**
   * A column of the input.
   *
   * @throws UnsupportedNodeException if there is no such column
   */
  Expression column(RexInputRef reference);

  /**
   * A field of a ROW.
   *
   * @throws UnsupportedNodeException if no expression gives this field
   */
  Expression field(RexFieldAccess access);
}
