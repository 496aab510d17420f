package io.millrace.operators.row;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType.Field;
import java.util.List;
import org.apache.flink.table.data.RowData;

/** Appends the fields of any {@link RowData}, top level or nested, through its getters. */
final class FieldsAppender {
  private final List<Field> fields;
  private final ColumnBuilder[] builders;
  private final FieldAppender[] appenders;

  FieldsAppender(List<Field> fields, List<ColumnBuilder> builders) {
    this.fields = fields;
    this.builders = builders.toArray(ColumnBuilder[]::new);
    this.appenders = builders.stream().map(FieldAppender::of).toArray(FieldAppender[]::new);
  }

  void append(RowData row) {
    if (row.getArity() != appenders.length) {
      throw new IllegalArgumentException(
          "the row has " + row.getArity() + " fields, not those of " + fields);
    }
    int i = 0;
    try {
      for (; i < appenders.length; i++) {
        if (row.isNullAt(i)) {
          appendNull(fields.get(i), builders[i]);
        } else {
          appenders[i].append(row, i);
        }
      }
    } catch (ClassCastException e) {
      throw new IllegalArgumentException(
          "the row's value does not have the type of column '" + fields.get(i) + "': " + row, e);
    }
  }

  static void appendNull(Field field, ColumnBuilder builder) {
    if (!field.nullable()) {
      throw new IllegalArgumentException("null in column '" + field + "'");
    }
    builder.appendNull();
  }
}
