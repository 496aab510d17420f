// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.row.ExternalRowDecoder;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.row.SchemaConverter;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.types.bitmap.Bitmap;

/** Rows of a user with the Java types of Flink's Table API, which are equal if their values are. */
final class ExternalRows {
  private static final int NANOS_OF_MICRO = 1_000;

  private final Schema schema;
  private final DataStructureConverter<Object, Object> converter;
  private final ExternalRowDecoder decoder;

  /**
   * @param schema without ARRAY and ROW
   */
  ExternalRows(Schema schema) {
    this.schema = schema;
    this.converter = DataStructureConverters.getConverter(SchemaConverter.toDataType(schema));
    converter.open(Thread.currentThread().getContextClassLoader());
    this.decoder = new ExternalRowDecoder(schema);
  }

  /**
   * A row with the values that columns keep, and no other kind than INSERT: a decimal, such as 1.0,
   * has the scale of its column, and a timestamp the digits that its column has. Shares nothing
   * with {@code row}.
   *
   * @throws IllegalArgumentException if the row does not fit the columns, such as a decimal with
   *     too many digits
   */
  Row asInColumns(Row row) {
    if (row.getArity() != schema.size()) {
      throw new IllegalArgumentException(
          "expected a row of " + schema.size() + " fields, got " + row.getArity() + ": " + row);
    }
    GenericRowData fields = converted(row);
    for (int i = 0; i < schema.size(); i++) {
      Object value = fields.getField(i);
      if (value != null) {
        fields.setField(i, asInColumn(value, schema.field(i).type()));
      } else if (field(row, i) != null) {
        throw new IllegalArgumentException(
            "expected %s for '%s', got %s"
                .formatted(schema.field(i).type(), schema.field(i).name(), field(row, i)));
      }
    }
    fields.setRowKind(RowKind.INSERT);
    return (Row) converter.toExternal(fields);
  }

  private GenericRowData converted(Row row) {
    try {
      return (GenericRowData) converter.toInternal(row);
    } catch (ClassCastException e) {
      throw new IllegalArgumentException(
          "a value of the row does not have the type of its column: " + row, e);
    }
  }

  private Object field(Row row, int column) {
    boolean hasNamesOnly = row.getFieldNames(false) != null;
    return hasNamesOnly ? row.getField(schema.field(column).name()) : row.getField(column);
  }

  private static Object asInColumn(Object value, DataType type) {
    return switch (type.id()) {
      case TIMESTAMP_MILLIS ->
          TimestampData.fromEpochMillis(((TimestampData) value).getMillisecond());
      case TIMESTAMP_MICROS -> wholeMicros((TimestampData) value);
      // UTF-8 has no halves of surrogate pairs.
      case STRING -> StringData.fromBytes(((StringData) value).toBytes());
      case BINARY -> type.isBitmap() ? Bitmap.from((Bitmap) value) : ((byte[]) value).clone();
      default -> value;
    };
  }

  private static TimestampData wholeMicros(TimestampData timestamp) {
    int nanos = timestamp.getNanoOfMillisecond();
    return TimestampData.fromEpochMillis(
        timestamp.getMillisecond(), nanos - nanos % NANOS_OF_MICRO);
  }

  /** A copy of one of these rows, which shares nothing with it that can change. */
  Row copy(Row row) {
    Row copy = Row.copy(row);
    for (int i = 0; i < schema.size(); i++) {
      if (copy.getField(i) instanceof byte[] bytes) {
        copy.setField(i, bytes.clone());
      } else if (copy.getField(i) instanceof Bitmap bitmap) {
        copy.setField(i, Bitmap.from(bitmap));
      }
    }
    return copy;
  }

  /** Makes rows of {@code table}, each of which is a new object. */
  RowDecoder<Row> decoder(Table table, AccessScope scope) {
    return decoder.decoder(table, scope);
  }
}
