// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/** Compares the types of results with the planner's, which results must have exactly. */
@Internal
public final class OutputTypes {
  private OutputTypes() {}

  /**
   * Checks that the first columns of {@code schema} have the types of the fields of {@code output}.
   *
   * @throws UnsupportedNodeException with the first field whose column has another type
   */
  public static void check(Schema schema, RowType output) {
    Schema expected = PlannedInput.schema(output);
    for (int i = 0; i < expected.size(); i++) {
      DataType type = schema.type(i);
      if (!type.equals(expected.type(i))) {
        throw new UnsupportedNodeException(
            "type of "
                + expected.field(i).name()
                + ": Flink "
                + expected.type(i)
                + ", here "
                + type);
      }
    }
  }
}
