// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.operators.row.RowAppender;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexVisitorImpl;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.RowType.RowField;

/**
 * The columns that are made of rows: those fields that expressions read, and of ROW fields those of
 * their fields that expressions read.
 */
@Internal
public final class LeafColumns implements InputColumns {
  private final RowType rowType;
  private final Map<List<Integer>, Field> leaves = new LinkedHashMap<>();
  private final Schema schema;

  /**
   * @param rowType of the rows
   * @param used the expressions; if they read nothing, the first field that can be one becomes a
   *     column, since a batch knows the number of its rows by its columns
   * @param insertOnly whether all rows are insertions; otherwise batches have a row-kind column
   * @throws UnsupportedNodeException if a field that is read has a type that no column can have
   */
  public LeafColumns(RowType rowType, List<RexNode> used, boolean insertOnly) {
    this.rowType = rowType;
    Collector collector = new Collector();
    used.forEach(node -> node.accept(collector));
    if (leaves.isEmpty()) {
      add(List.of(0));
    }
    Schema columns = new Schema(List.copyOf(leaves.values()));
    this.schema = insertOnly ? columns : RowKindColumn.addTo(columns);
  }

  private final class Collector extends RexVisitorImpl<Void> {
    private Collector() {
      super(true);
    }

    @Override
    public Void visitInputRef(RexInputRef reference) {
      add(List.of(reference.getIndex()));
      return null;
    }

    @Override
    public Void visitFieldAccess(RexFieldAccess access) {
      List<Integer> path = path(access);
      if (path == null) {
        return super.visitFieldAccess(access);
      }
      add(path);
      return null;
    }
  }

  private void add(List<Integer> path) {
    leaves.computeIfAbsent(path, this::field);
  }

  private Field field(List<Integer> path) {
    LogicalType type = rowType;
    List<String> names = new ArrayList<>();
    boolean nullable = false;
    for (int index : path) {
      RowField field = ((RowType) type).getFields().get(index);
      names.add(field.getName());
      type = field.getType();
      nullable |= PlannerTypes.isNullable(type);
    }
    String name = String.join(".", names);
    boolean isTaken = leaves.values().stream().anyMatch(leaf -> leaf.name().equals(name));
    return new Field(
        isTaken ? name + "$" + leaves.size() : name,
        PlannerTypes.columnType("column '" + name + "'", type),
        nullable);
  }

  // Null if the node is not a field of a column, at any depth.
  private static List<Integer> path(RexNode node) {
    if (node instanceof RexInputRef reference) {
      return List.of(reference.getIndex());
    } else if (node instanceof RexFieldAccess access) {
      List<Integer> outer = path(access.getReferenceExpr());
      if (outer != null) {
        List<Integer> path = new ArrayList<>(outer);
        path.add(access.getField().getIndex());
        return path;
      }
    }
    return null;
  }

  @Override
  public Schema schema() {
    return schema;
  }

  @Override
  public Expression column(RexInputRef reference) {
    return leaf(reference);
  }

  @Override
  public Expression field(RexFieldAccess access) {
    return leaf(access);
  }

  private Expression leaf(RexNode node) {
    List<Integer> path = path(node);
    if (path == null) {
      throw new UnsupportedNodeException("field " + node + " of a computed ROW");
    }
    return Expressions.col(leaves.get(path).name());
  }

  /** Makes the columns of rows. */
  public RowAppender.Factory<RowData> appenders() {
    return RowDataAppender.factory(rowType, List.copyOf(leaves.keySet()));
  }
}
