// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType.Field;
import io.millrace.column.VariableWidthColumnBuilder;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.binary.BinaryStringData;

/**
 * Appends the fields of any top-level or nested {@link RowData} through its getters. {@link
 * GetterRowAppenderCompiler} makes faster appenders.
 */
@Internal
public class GetterRowAppender {
  private final List<Field> fields;
  private final int arity;
  private final LeafPath[] paths;
  private final ColumnBuilder[] builders;
  private final GetterFieldAppender[] appenders;

  /** Appends all fields of rows. */
  GetterRowAppender(List<Field> fields, List<ColumnBuilder> builders) {
    this(fields, fields.size(), LeafPath.fields(fields.size()), builders);
  }

  /**
   * @param fields of the columns
   * @param arity the number of the rows' fields
   * @param paths to the field of each column
   * @param builders of the columns
   */
  protected GetterRowAppender(
      List<Field> fields, int arity, List<LeafPath> paths, List<ColumnBuilder> builders) {
    this.fields = fields;
    this.arity = arity;
    this.paths = paths.toArray(LeafPath[]::new);
    this.builders = builders.toArray(ColumnBuilder[]::new);
    this.appenders =
        builders.stream().map(GetterFieldAppender::of).toArray(GetterFieldAppender[]::new);
  }

  /**
   * Appends one row.
   *
   * @throws IllegalArgumentException if the row has another number of fields than the columns, a
   *     null in a NOT NULL column or a value of another type
   */
  final void append(RowData row) {
    if (row.getArity() != arity) {
      throw new IllegalArgumentException(
          "expected a row with %d fields, such as %s, got one with %d fields"
              .formatted(arity, fields, row.getArity()));
    }
    try {
      appendFields(row);
    } catch (ClassCastException e) {
      throw new IllegalArgumentException(
          "the row's value does not have the type of column '"
              + fields.get(lacking())
              + "': "
              + row,
          e);
    }
  }

  /** Appends the field of each column. */
  protected void appendFields(RowData row) {
    for (int column = 0; column < appenders.length; column++) {
      appendField(paths[column].parent(row), paths[column].position(), column);
    }
  }

  /**
   * Appends one field through its getter.
   *
   * @param row has the field; null if the field is null
   */
  protected final void appendField(RowData row, int position, int column) {
    if (row == null || row.isNullAt(position)) {
      appendNull(column);
    } else {
      appenders[column].append(row, position);
    }
  }

  /** Appends the bytes of {@code text}, without a copy if they are in one array. */
  protected static void append(VariableWidthColumnBuilder column, StringData text) {
    BinaryStringData string = (BinaryStringData) text;
    string.ensureMaterialized();
    MemorySegment[] segments = string.getSegments();
    if (segments.length == 1 && !segments[0].isOffHeap()) {
      column.appendBytes(segments[0].getArray(), string.getOffset(), string.getSizeInBytes());
    } else {
      column.appendBytes(string.toBytes());
    }
  }

  protected final void appendNull(int column) {
    appendNull(fields.get(column), builders[column]);
  }

  static void appendNull(Field field, ColumnBuilder builder) {
    if (!field.nullable()) {
      throw new IllegalArgumentException(
          "column '" + field.name() + "' is NOT NULL and the row has a null in it");
    }
    builder.appendNull();
  }

  // The first field that was not appended, if a row was appended in part.
  private int lacking() {
    int field = 0;
    while (builders[field].size() > builders[builders.length - 1].size()) {
      field++;
    }
    return field;
  }
}
