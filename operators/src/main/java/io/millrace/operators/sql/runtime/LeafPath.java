// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/**
 * The way from a row to a field of it, or to a field of a ROW in it at any depth.
 *
 * @param indices of a field in the row, of a field in that ROW field, and so on; at least one
 * @param arities the number of fields of the ROW at each index but the last
 */
@Internal
public record LeafPath(List<Integer> indices, List<Integer> arities) implements Serializable {
  private static final long serialVersionUID = 1L;

  public LeafPath {
    indices = List.copyOf(indices);
    arities = List.copyOf(arities);
  }

  /** The path by {@code indices} through rows of {@code type}. */
  public static LeafPath of(RowType type, List<Integer> indices) {
    List<Integer> arities = new ArrayList<>();
    LogicalType at = type;
    for (int index : indices.subList(0, indices.size() - 1)) {
      at = at.getChildren().get(index);
      arities.add(LogicalTypeChecks.getFieldCount(at));
    }
    return new LeafPath(indices, arities);
  }

  /** How many ROW fields lie on the way: 0 for a field of the row itself. */
  int depth() {
    return arities.size();
  }

  int index(int step) {
    return indices.get(step);
  }

  int arity(int step) {
    return arities.get(step);
  }
}
