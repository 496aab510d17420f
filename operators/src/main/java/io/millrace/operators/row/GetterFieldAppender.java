// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.ListColumnBuilder;
import io.millrace.column.StructColumnBuilder;
import io.millrace.column.VariableWidthColumnBuilder;
import java.util.List;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;

/** Appends one non-null field of any {@link RowData} to one column. */
@FunctionalInterface
interface GetterFieldAppender {
  void append(RowData row, int position);

  static GetterFieldAppender of(ColumnBuilder builder) {
    if (builder instanceof FixedWidthColumnBuilder column) {
      return fixedWidth(column);
    }
    if (builder instanceof VariableWidthColumnBuilder column) {
      return switch (column.type().id()) {
        case STRING -> (row, i) -> GetterRowAppender.append(column, row.getString(i));
        default ->
            column.type().isBitmap()
                ? (row, i) -> column.appendBytes(row.getBitmap(i).toBytes())
                : (row, i) -> column.appendBytes(row.getBinary(i));
      };
    }
    if (builder instanceof ListColumnBuilder column) {
      return column.type().isMap() ? map(column) : list(column);
    }
    StructColumnBuilder column = (StructColumnBuilder) builder;
    return switch (column.type().id()) {
      case TIMESTAMP_NANOS -> timestampNanos(column);
      default -> struct(column);
    };
  }

  private static GetterFieldAppender fixedWidth(FixedWidthColumnBuilder column) {
    DataType type = column.type();
    return switch (type.id()) {
      case BOOL -> (row, i) -> column.appendBoolean(row.getBoolean(i));
      case INT8 -> (row, i) -> column.appendByte(row.getByte(i));
      case INT16 -> (row, i) -> column.appendShort(row.getShort(i));
      case INT32, DATE, TIME -> (row, i) -> column.appendInt(row.getInt(i));
      case INT64 -> (row, i) -> column.appendLong(row.getLong(i));
      case FLOAT32 -> (row, i) -> column.appendFloat(row.getFloat(i));
      case FLOAT64 -> (row, i) -> column.appendDouble(row.getDouble(i));
      case DECIMAL32 -> (row, i) -> column.appendInt((int) decimal(row, i, type).toUnscaledLong());
      case DECIMAL64 -> (row, i) -> column.appendLong(decimal(row, i, type).toUnscaledLong());
      case DECIMAL128 -> (row, i) -> Decimal128.append(column, decimal(row, i, type));
      case TIMESTAMP_MILLIS ->
          (row, i) -> column.appendLong(row.getTimestamp(i, type.precision()).getMillisecond());
      case TIMESTAMP_MICROS ->
          (row, i) -> column.appendLong(microseconds(row.getTimestamp(i, type.precision())));
      default -> throw new IllegalArgumentException("no field of a row has the type " + type);
    };
  }

  private static GetterFieldAppender timestampNanos(StructColumnBuilder column) {
    int precision = column.type().precision();
    FixedWidthColumnBuilder millis = (FixedWidthColumnBuilder) column.fields().get(0);
    FixedWidthColumnBuilder nanos = (FixedWidthColumnBuilder) column.fields().get(1);
    return (row, i) -> {
      TimestampData timestamp = row.getTimestamp(i, precision);
      millis.appendLong(timestamp.getMillisecond());
      nanos.appendInt(timestamp.getNanoOfMillisecond());
      column.appendStruct();
    };
  }

  private static GetterFieldAppender struct(StructColumnBuilder column) {
    GetterRowAppender fields = new GetterRowAppender(column.type().fields(), column.fields());
    int arity = column.type().fields().size();
    return (row, i) -> {
      fields.append(row.getRow(i, arity));
      column.appendStruct();
    };
  }

  private static GetterFieldAppender list(ListColumnBuilder column) {
    Field field = column.type().fields().get(0);
    ColumnBuilder elements = column.elements();
    GetterFieldAppender appender = of(elements);
    return (row, position) -> {
      ArrayData array = row.getArray(position);
      ArrayElements view = new ArrayElements(array);
      for (int i = 0; i < array.size(); i++) {
        appendElement(view, i, field, elements, appender);
      }
      column.appendList();
    };
  }

  private static GetterFieldAppender map(ListColumnBuilder column) {
    StructColumnBuilder entries = (StructColumnBuilder) column.elements();
    List<Field> fields = entries.type().fields();
    ColumnBuilder keys = entries.fields().get(0);
    ColumnBuilder values = entries.fields().get(1);
    GetterFieldAppender keyAppender = of(keys);
    GetterFieldAppender valueAppender = of(values);
    return (row, position) -> {
      MapData map = row.getMap(position);
      ArrayElements keyView = new ArrayElements(map.keyArray());
      ArrayElements valueView = new ArrayElements(map.valueArray());
      for (int i = 0; i < map.size(); i++) {
        appendElement(keyView, i, fields.get(0), keys, keyAppender);
        appendElement(valueView, i, fields.get(1), values, valueAppender);
        entries.appendStruct();
      }
      column.appendList();
    };
  }

  private static void appendElement(
      ArrayElements array,
      int position,
      Field field,
      ColumnBuilder elements,
      GetterFieldAppender appender) {
    if (array.isNullAt(position)) {
      GetterRowAppender.appendNull(field, elements);
    } else {
      appender.append(array, position);
    }
  }

  private static DecimalData decimal(RowData row, int position, DataType type) {
    DecimalData decimal = row.getDecimal(position, type.precision(), type.scale());
    if (decimal.scale() != type.scale() || decimal.precision() > type.precision()) {
      throw new IllegalArgumentException(
          "expected "
              + type
              + ", got "
              + decimal
              + " of DECIMAL("
              + decimal.precision()
              + ", "
              + decimal.scale()
              + ")");
    }
    return decimal;
  }

  /**
   * Microseconds since 1970-01-01T00:00; further digits are truncated.
   *
   * @throws ArithmeticException if the result does not fit a long
   */
  static long microseconds(TimestampData timestamp) {
    return microseconds(timestamp.getMillisecond(), timestamp.getNanoOfMillisecond());
  }

  // Below zero, the milliseconds may be out of range in microseconds although the sum is in range.
  static long microseconds(long millis, int nanosOfMilli) {
    int micros = nanosOfMilli / 1000;
    return millis < 0
        ? Math.addExact(Math.multiplyExact(millis + 1, 1000L), micros - 1000)
        : Math.addExact(Math.multiplyExact(millis, 1000L), micros);
  }
}
