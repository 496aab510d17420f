// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.rex;

import io.millrace.column.DataType;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.sql.planner.node.UnsupportedNodeException;
import java.util.stream.IntStream;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.planner.calcite.FlinkTypeFactory;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;

/** The planner's types as types of columns. */
@Internal
public final class PlannerTypes {
  private PlannerTypes() {}

  /**
   * The type of a column that holds values of {@code type}.
   *
   * @param what has the type, for the message
   * @throws UnsupportedNodeException if no column can have this type
   */
  static DataType columnType(String what, LogicalType type) {
    try {
      return SchemaConverter.toSchema(RowType.of(type)).type(0);
    } catch (IllegalArgumentException e) {
      throw new UnsupportedNodeException(what + " is " + type.asSummaryString());
    }
  }

  /** As {@link #columnType(String, LogicalType)}, of the planner's type. */
  static DataType columnType(String what, RelDataType type) {
    try {
      return columnType(what, FlinkTypeFactory.toLogicalType(type));
    } catch (org.apache.flink.table.api.TableException e) {
      throw new UnsupportedNodeException(what + " is " + type);
    }
  }

  /** Whether nested types differ in the names and the nullability of fields alone. */
  static boolean haveOneForm(DataType left, DataType right) {
    return left.id().isScalar()
        ? left.equals(right)
        : left.id() == right.id()
            && left.isMap() == right.isMap()
            && left.fields().size() == right.fields().size()
            && IntStream.range(0, left.fields().size())
                .allMatch(
                    i -> haveOneForm(left.fields().get(i).type(), right.fields().get(i).type()));
  }

  /**
   * Whether a column of {@code type} may have nulls. A processing-time attribute is NOT NULL by its
   * type, but null in rows until it is materialised.
   */
  public static boolean isNullable(LogicalType type) {
    return type.isNullable() || LogicalTypeChecks.isProctimeAttribute(type);
  }
}
