// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.RowTableBuilder;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.types.Row;

/**
 * Appends {@link Row}s with the Java types of Flink's Table API: LocalDateTime, Instant, BigDecimal
 * and so on. Fields are found by name if the row has names, otherwise by position. Flink's
 * converters round: a decimal is rounded half up, and a decimal that does not fit its column
 * becomes null.
 */
@Internal
public final class ExternalRowAppender implements RowAppender<Row> {
  private final RowDataAppender appender;
  private final DataStructureConverter<Object, Object> converter;
  private final int arity;

  public ExternalRowAppender(RowTableBuilder table) {
    this.appender = new RowDataAppender(table);
    this.converter =
        DataStructureConverters.getConverter(SchemaConverter.toDataType(table.schema()));
    this.arity = RowKindColumn.rowFields(table.schema()).size();
    converter.open(Thread.currentThread().getContextClassLoader());
  }

  @Override
  public void append(Row row) {
    if (row.getArity() != arity) {
      throw new IllegalArgumentException(
          "expected a row of " + arity + " fields, got " + row.getArity() + ": " + row);
    }
    RowData converted;
    try {
      converted = (RowData) converter.toInternal(row);
    } catch (ClassCastException e) {
      throw new IllegalArgumentException(
          "a value of the row does not have the type of its column: " + row, e);
    }
    appender.append(converted);
  }
}
