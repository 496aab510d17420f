// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.values;

import io.millrace.operators.sql.planner.node.NodeSpec;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.RowType;

/**
 * Rows of literals, which are Flink's node's.
 *
 * @param output the type of the rows
 */
@Internal
public record ValuesSpec(RowType output) implements NodeSpec {
  // Batches are made of Flink's rows.
  @Override
  public boolean isCheap() {
    return true;
  }
}
