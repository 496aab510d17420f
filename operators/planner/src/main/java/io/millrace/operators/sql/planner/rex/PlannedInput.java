// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.column.Schema;
import io.millrace.operators.exchange.ExchangeTransformations;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.sql.planner.node.MillraceRel;
import io.millrace.operators.sql.planner.node.NodeInput;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexNode;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.types.logical.RowType;

/** What is known of a node's input while the plan is made. */
@Internal
public final class PlannedInput {
  private PlannedInput() {}

  /**
   * The columns of the batches that {@code input} gives or, if it gives rows, that are made of them
   * for {@code used}.
   *
   * @throws UnsupportedNodeException if a field that is read has a type that no column can have
   */
  public static InputColumns columns(RelNode input, List<RexNode> used) {
    RowType type = FlinkTypeFactory.toLogicalRowType(input.getRowType());
    return MillraceRel.givesBatches(input)
        ? new BatchColumns(schema(type))
        : new LeafColumns(type, used, NodeInput.isInsertOnly(input));
  }

  /**
   * The columns of batches with all fields of {@code input}.
   *
   * @throws UnsupportedNodeException if a field has a type that no column can have
   */
  public static Schema batchSchema(RelNode input) {
    Schema schema = schema(FlinkTypeFactory.toLogicalRowType(input.getRowType()));
    return NodeInput.isInsertOnly(input) ? schema : RowKindColumn.addTo(schema);
  }

  /**
   * As {@link #batchSchema}, for an operator with keyed state.
   *
   * @param keys positions of the key fields
   * @throws UnsupportedNodeException if a field has a type that no column can have; or if the input
   *     gives rows with FLOAT or DOUBLE keys: Flink sends each NaN by its bits, but all NaN are one
   *     key of state, which would be restored by the bits of one of them
   */
  public static Schema keyedSchema(RelNode input, List<Integer> keys) {
    Schema schema = batchSchema(input);
    for (int key : keys) {
      if (!MillraceRel.givesBatches(input) && schema.type(key).isFloatingPoint()) {
        throw new UnsupportedNodeException(
            "Flink sends rows by a key of " + schema.type(key) + ", where NaN differ");
      }
    }
    return schema;
  }

  /**
   * The names of key columns of keyed state.
   *
   * @throws UnsupportedNodeException if rows cannot be sent by these keys: state is restored by
   *     their key groups
   */
  public static List<String> keyNames(Schema input, List<Integer> keys) {
    if (!keys.isEmpty()) {
      checkKeys(input, keys);
    }
    return keys.stream().map(key -> input.field(key).name()).toList();
  }

  /**
   * Checks whether rows can be sent by keys.
   *
   * @param keys positions of columns
   * @throws UnsupportedNodeException if they cannot
   */
  public static void checkKeys(Schema input, List<Integer> keys) {
    try {
      ExchangeTransformations.checkKeys(input, keys);
    } catch (IllegalArgumentException e) {
      throw new UnsupportedNodeException(e.getMessage());
    }
  }

  /**
   * The columns that rows of {@code type} are.
   *
   * @throws UnsupportedNodeException if a field has a type that no column can have
   */
  public static Schema schema(RowType type) {
    try {
      return SchemaConverter.toSchema(type);
    } catch (IllegalArgumentException e) {
      throw new UnsupportedNodeException(e.getMessage().replaceAll(";.*", ""));
    }
  }
}
