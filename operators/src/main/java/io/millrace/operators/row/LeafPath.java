// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/**
 * The way from a row to a field of it, or to a field of a ROW in it at any depth.
 *
 * @param indices of a field in the row, of a field in that ROW field, and so on; at least one
 * @param arities the number of fields of the ROW at each index but the last
 */
record LeafPath(List<Integer> indices, List<Integer> arities) implements Serializable {
  private static final long serialVersionUID = 1L;

  LeafPath {
    indices = List.copyOf(indices);
    arities = List.copyOf(arities);
  }

  /** The path by {@code indices} through rows of {@code type}. */
  static LeafPath of(RowType type, List<Integer> indices) {
    List<Integer> arities = new ArrayList<>();
    LogicalType at = type;
    for (int index : indices.subList(0, indices.size() - 1)) {
      at = at.getChildren().get(index);
      arities.add(LogicalTypeChecks.getFieldCount(at));
    }
    return new LeafPath(indices, arities);
  }

  /** The paths to the fields of rows of {@code arity} fields. */
  static List<LeafPath> fields(int arity) {
    return IntStream.range(0, arity).mapToObj(i -> new LeafPath(List.of(i), List.of())).toList();
  }

  /** Whether it leads to a field of the row itself. */
  boolean isField() {
    return arities.isEmpty();
  }

  /** The position of the field in the row that has it. */
  int position() {
    return indices.get(arities.size());
  }

  /** The row that has the field; null if a ROW on the way is null. */
  RowData parent(RowData row) {
    RowData parent = row;
    for (int step = 0; step < arities.size(); step++) {
      int index = indices.get(step);
      if (parent.isNullAt(index)) {
        return null;
      }
      parent = parent.getRow(index, arities.get(step));
    }
    return parent;
  }
}
