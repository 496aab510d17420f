// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.flink.annotation.Internal;

/**
 * The columns of batches, by position: names of fields change from node to node, and the batches'
 * columns may be nullable where the planner's fields are not.
 */
@Internal
public record BatchColumns(Schema schema) implements InputColumns {
  @Override
  public Expression column(RexInputRef reference) {
    return Expressions.col(schema.field(reference.getIndex()).name());
  }

  @Override
  public Expression field(RexFieldAccess access) {
    String name = access.getField().getName();
    if (access.getReferenceExpr() instanceof RexInputRef reference) {
      return column(reference).field(name);
    } else if (access.getReferenceExpr() instanceof RexFieldAccess outer) {
      return field(outer).field(name);
    }
    throw new UnsupportedNodeException("field " + access);
  }
}
