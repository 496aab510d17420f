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
import org.apache.flink.table.types.logical.RowType;
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
  // Null if some columns are fields of ROWs.
  private final BinaryRowAppender binaryFields;
  private final FixedWidthColumnBuilder rowKinds;

  /** Makes appenders; all that a job's operators need to read it is this class. */
  public static RowAppender.Factory<RowData> factory() {
    return RowDataAppender::new;
  }

  /**
   * Makes appenders of some fields of rows, and of ROWs in them: only what a query reads becomes
   * columns. A field of a ROW that is null is null.
   *
   * @param type of the rows
   * @param paths the positions of a field in the row, of a field in that ROW field, and so on, for
   *     each column but the row-kind column
   */
  public static RowAppender.Factory<RowData> factory(RowType type, List<List<Integer>> paths) {
    int arity = type.getFieldCount();
    List<LeafPath> leaves = paths.stream().map(path -> LeafPath.of(type, path)).toList();
    return table -> new RowDataAppender(table, arity, leaves);
  }

  public RowDataAppender(RowTableBuilder table) {
    this(table, LeafPath.fields(RowKindColumn.rowFields(table.schema()).size()));
  }

  private RowDataAppender(RowTableBuilder table, List<LeafPath> fields) {
    this(table, fields.size(), fields);
  }

  private RowDataAppender(RowTableBuilder table, int arity, List<LeafPath> paths) {
    List<Field> rowFields = RowKindColumn.rowFields(table.schema());
    int columnCount = rowFields.size();
    List<ColumnBuilder> columns = table.columns().subList(0, columnCount);
    this.arity = arity;
    this.fields = GetterRowAppenderCompiler.compile(rowFields, arity, paths, columns);
    this.binaryFields =
        paths.stream().allMatch(LeafPath::isField)
            ? new BinaryRowAppender(rowFields, arity, paths, columns)
            : null;
    this.rowKinds =
        columnCount < table.schema().size()
            ? (FixedWidthColumnBuilder) table.column(columnCount)
            : null;
  }

  @Override
  public void append(RowData row) {
    appendKind(row.getRowKind(), rowKinds);
    if (binaryFields != null
        && row instanceof BinaryRowData binary
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
