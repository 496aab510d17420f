// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType.Field;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.data.RowData;

/**
 * Appends the fields of any top-level or nested {@link RowData} through its getters. {@link
 * GetterRowAppenderCompiler} makes faster appenders.
 */
@Internal
public class GetterRowAppender {
  private final List<Field> fields;
  private final ColumnBuilder[] builders;
  private final GetterFieldAppender[] appenders;

  /**
   * @param builders the builders of the columns of {@code fields}
   */
  protected GetterRowAppender(List<Field> fields, List<ColumnBuilder> builders) {
    this.fields = fields;
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
    if (row.getArity() != appenders.length) {
      throw new IllegalArgumentException(
          "expected a row with the fields "
              + fields
              + ", got one with "
              + row.getArity()
              + " fields");
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

  /** Appends each field of {@code row}, which has as many fields as there are columns. */
  protected void appendFields(RowData row) {
    for (int field = 0; field < appenders.length; field++) {
      appendField(row, field);
    }
  }

  /** Appends one field through its getter. */
  protected final void appendField(RowData row, int field) {
    if (row.isNullAt(field)) {
      appendNull(field);
    } else {
      appenders[field].append(row, field);
    }
  }

  /** Appends a null to the column of a field. */
  protected final void appendNull(int field) {
    appendNull(fields.get(field), builders[field]);
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
