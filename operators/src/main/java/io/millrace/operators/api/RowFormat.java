// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.api;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.row.ExternalRowAppender;
import io.millrace.operators.row.PojoAppender;
import io.millrace.operators.row.RowAppender;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.row.SchemaConverter;
import java.util.Arrays;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.Row;

/**
 * The format of the rows of a stream.
 *
 * @param name for {@link ColumnStream#explain}
 * @param appenders append rows to columns
 */
record RowFormat<T>(String name, RowAppender.Factory<T> appenders) {

  /**
   * The format of rows of a type.
   *
   * @param schema the columns that the rows become
   * @throws IllegalArgumentException if the type is not RowData, Row or a POJO, or a field of
   *     RowData or of a POJO has another type than its column
   * @throws ExpressionException if a POJO has no field for a column
   */
  @SuppressWarnings("unchecked") // the type's class is T
  static <T> RowFormat<T> of(TypeInformation<T> type, Schema schema) {
    if (RowData.class.isAssignableFrom(type.getTypeClass())) {
      SchemaConverter.checkRows(type, schema);
      RowAppender.Factory<RowData> appenders = RowDataAppender.factory();
      return new RowFormat<>("RowData", (RowAppender.Factory<T>) appenders);
    } else if (type.getTypeClass() == Row.class) {
      RowAppender.Factory<Row> appenders = ExternalRowAppender::new;
      return new RowFormat<>("Row", (RowAppender.Factory<T>) appenders);
    } else if (type instanceof PojoTypeInfo<T> pojo) {
      RowKindColumn.rowFields(schema).forEach(field -> checkField(pojo, field));
      PojoAppender.check(pojo, RowKindColumn.rowFields(schema));
      return new RowFormat<>(type.getTypeClass().getSimpleName(), PojoAppender.factory(pojo));
    }
    throw new IllegalArgumentException(
        "expected a stream of RowData, Row or a POJO, got "
            + type
            + "; returns(...) gives a stream another type");
  }

  private static void checkField(PojoTypeInfo<?> pojo, Field column) {
    if (!pojo.hasField(column.name())) {
      throw ExpressionException.unknownColumn(column.name(), Arrays.asList(pojo.getFieldNames()));
    }
  }
}
