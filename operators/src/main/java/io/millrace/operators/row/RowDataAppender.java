// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.types.RowKind;

/**
 * Appends {@link RowData}. A {@link BinaryRowData} in one memory segment, on the heap or off it, is
 * read directly from the segment; all other rows are read through their getters.
 *
 * <p>The row kind is appended to the schema's {@link RowKindColumn}. Without this column, a row
 * that is not an insertion is refused.
 */
@Internal
public final class RowDataAppender implements RowAppender<RowData> {
  private final int arity;
  private final GetterRowAppender fields;
  private final BinaryRowAppender binaryFields;
  private final FixedWidthColumnBuilder rowKinds;

  /** Makes appenders; all that a job's operators need to read it is this class. */
  public static RowAppender.Factory<RowData> factory() {
    return RowDataAppender::new;
  }

  public RowDataAppender(RowTableBuilder table) {
    List<Field> rowFields = RowKindColumn.rowFields(table.schema());
    this.arity = rowFields.size();
    List<ColumnBuilder> columns = table.columns().subList(0, arity);
    this.fields = GetterRowAppenderCompiler.compile(rowFields, columns);
    this.binaryFields = new BinaryRowAppender(rowFields, columns);
    this.rowKinds =
        arity < table.schema().size() ? (FixedWidthColumnBuilder) table.column(arity) : null;
  }

  @Override
  public void append(RowData row) {
    appendKind(row.getRowKind(), rowKinds);
    if (row instanceof BinaryRowData binary
        && binary.getSegments().length == 1
        && binary.getArity() == arity) {
      binaryFields.append(binary.getSegments()[0], binary.getOffset());
    } else {
      fields.append(row);
    }
  }

  static void appendKind(RowKind kind, FixedWidthColumnBuilder rowKinds) {
    if (rowKinds != null) {
      rowKinds.appendByte(kind.toByteValue());
    } else if (kind != RowKind.INSERT) {
      throw new IllegalArgumentException(
          "a row of kind "
              + kind
              + " in a table of insertions; add RowKindColumn to the schema to keep row kinds");
    }
  }
}
