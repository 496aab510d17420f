// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.RowTableBuilder;
import org.apache.flink.annotation.Internal;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.types.Row;

/**
 * Appends {@link Row}, by position or, if a row has names, by name, with the Java types of Flink's
 * Table API: LocalDateTime, Instant, BigDecimal and so on. Flink's own converters decide on
 * rounding: a decimal is rounded half up, and one that does not fit is null.
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
          "the row has " + row.getArity() + " fields, its table " + arity + ": " + row);
    }
    RowData converted;
    try {
      converted = (RowData) converter.toInternal(row);
    } catch (ClassCastException e) {
      throw new IllegalArgumentException("the row does not have its columns' types: " + row, e);
    }
    appender.append(converted);
  }
}
