// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.types.DeserializationException;
import org.apache.flink.types.bitmap.Bitmap;

/** The Java values of the test fixtures as Flink's internal data structures. */
final class InternalValues {
  private InternalValues() {}

  static GenericRowData row(List<Field> fields, List<?> values) {
    GenericRowData row = new GenericRowData(fields.size());
    for (int i = 0; i < fields.size(); i++) {
      row.setField(i, value(fields.get(i).type(), values.get(i)));
    }
    return row;
  }

  private static Object value(DataType type, Object value) {
    if (value == null) {
      return null;
    }
    return switch (type.id()) {
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          DecimalData.fromBigDecimal((BigDecimal) value, type.precision(), type.scale());
      case DATE -> (int) ((LocalDate) value).toEpochDay();
      case TIME -> (int) (((LocalTime) value).toNanoOfDay() / 1_000_000);
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> timestamp(value);
      case STRING -> StringData.fromString((String) value);
      case BINARY -> bytes(type, ((ByteBuffer) value).array());
      case LIST ->
          type.isMap()
              ? map(type.fields().get(0).type().fields(), (List<?>) value)
              : array(type.fields().get(0).type(), (List<?>) value);
      case STRUCT -> row(type.fields(), (List<?>) value);
      case DICTIONARY -> value(type.fields().get(0).type(), value);
      default -> value;
    };
  }

  private static Object bytes(DataType type, byte[] value) {
    try {
      return type.isBitmap() ? Bitmap.fromBytes(value) : value;
    } catch (DeserializationException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static TimestampData timestamp(Object value) {
    Instant instant =
        value instanceof Instant zoned ? zoned : ((LocalDateTime) value).toInstant(ZoneOffset.UTC);
    return TimestampData.fromEpochMillis(
        instant.toEpochMilli(), instant.get(ChronoField.NANO_OF_SECOND) % 1_000_000);
  }

  /** A map that keeps the order of its entries, and equal keys. */
  private record Entries(ArrayData keyArray, ArrayData valueArray) implements MapData {
    @Override
    public int size() {
      return keyArray.size();
    }
  }

  private static MapData map(List<Field> entry, List<?> values) {
    return new Entries(
        array(entry.get(0).type(), values.stream().<Object>map(pair -> ((List<?>) pair).get(0))),
        array(entry.get(1).type(), values.stream().<Object>map(pair -> ((List<?>) pair).get(1))));
  }

  private static GenericArrayData array(DataType type, List<?> values) {
    return array(type, values.stream());
  }

  private static GenericArrayData array(DataType type, Stream<?> values) {
    return new GenericArrayData(values.map(element -> value(type, element)).toArray(Object[]::new));
  }
}
