// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import io.millrace.column.DataType;
import io.millrace.expression.vector.HostVector;
import io.millrace.expression.vector.TimestampNanos;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.data.ArrayData;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericArrayData;
import org.apache.flink.table.data.GenericMapData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.MapData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.TimestampData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.types.DeserializationException;
import org.apache.flink.types.bitmap.Bitmap;

/**
 * Values in vectors, as the objects that Flink's rows hold.
 *
 * @param type of the values
 */
record InternalValues(LogicalType type) implements VectorValues {
  private static final long MICROS_OF_MILLI = 1_000;
  private static final int NANOS_OF_MICRO = 1_000;

  private InternalValues child(int index) {
    return new InternalValues(type.getChildren().get(index));
  }

  @Override
  public Object read(HostVector vector, int row) {
    if (vector.isNull(row)) {
      return null;
    }
    DataType column = vector.type();
    return switch (column.id()) {
      case BOOL -> vector.getBoolean(row);
      case INT8 -> (byte) vector.longs()[row];
      case INT16 -> (short) vector.longs()[row];
      case INT32, DATE, TIME -> (int) vector.longs()[row];
      case INT64 -> vector.longs()[row];
      case FLOAT32 -> (float) vector.doubles()[row];
      case FLOAT64 -> vector.doubles()[row];
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          DecimalData.fromBigDecimal(vector.getDecimal(row), column.precision(), column.scale());
      case TIMESTAMP_MILLIS -> TimestampData.fromEpochMillis(vector.longs()[row]);
      case TIMESTAMP_MICROS -> ofMicros(vector.longs()[row]);
      case TIMESTAMP_NANOS ->
          TimestampData.fromEpochMillis(vector.longs()[row], (int) vector.secondParts()[row]);
      case STRING -> StringData.fromBytes(vector.getBytes(row));
      case BINARY -> column.isBitmap() ? bitmap(vector.getBytes(row)) : vector.getBytes(row);
      case STRUCT -> rowOf(vector, row);
      case LIST ->
          column.isMap() ? mapOf(vector, row) : new GenericArrayData(elements(vector, row));
      case DICTIONARY -> throw new IllegalStateException("no expression reads " + column);
    };
  }

  private static TimestampData ofMicros(long micros) {
    int rest = (int) Math.floorMod(micros, MICROS_OF_MILLI);
    return TimestampData.fromEpochMillis(
        Math.floorDiv(micros, MICROS_OF_MILLI), rest * NANOS_OF_MICRO);
  }

  private static Bitmap bitmap(byte[] bytes) {
    try {
      return Bitmap.fromBytes(bytes);
    } catch (DeserializationException e) {
      throw new IllegalStateException(e);
    }
  }

  private GenericRowData rowOf(HostVector vector, int row) {
    List<HostVector> fields = vector.fields();
    GenericRowData values = new GenericRowData(fields.size());
    for (int i = 0; i < fields.size(); i++) {
      values.setField(i, child(i).read(fields.get(i), row));
    }
    return values;
  }

  private Object[] elements(HostVector vector, int row) {
    Object[] elements = new Object[vector.length(row)];
    for (int i = 0; i < elements.length; i++) {
      elements[i] = child(0).read(vector.elements(), vector.firstElement(row) + i);
    }
    return elements;
  }

  private GenericMapData mapOf(HostVector vector, int row) {
    List<HostVector> entry = vector.elements().fields();
    Map<Object, Object> entries = new LinkedHashMap<>();
    for (int i = 0; i < vector.length(row); i++) {
      int position = vector.firstElement(row) + i;
      entries.put(child(0).read(entry.get(0), position), child(1).read(entry.get(1), position));
    }
    return new GenericMapData(entries);
  }

  @Override
  public void write(HostVector vector, int row, Object value) {
    if (value == null) {
      vector.setNull(row);
      return;
    }
    DataType column = vector.type();
    switch (column.id()) {
      case BOOL -> vector.setBoolean(row, (Boolean) value);
      case INT8, INT16, INT32, INT64, DATE, TIME ->
          vector.longs()[row] = ((Number) value).longValue();
      case FLOAT32, FLOAT64 -> vector.doubles()[row] = ((Number) value).doubleValue();
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          vector.setDecimal(row, ((DecimalData) value).toBigDecimal());
      case TIMESTAMP_MILLIS -> vector.longs()[row] = ((TimestampData) value).getMillisecond();
      case TIMESTAMP_MICROS -> vector.longs()[row] = micros((TimestampData) value);
      case TIMESTAMP_NANOS -> setNanos(vector, row, (TimestampData) value);
      case STRING -> vector.setBytes(row, ((StringData) value).toBytes());
      case BINARY ->
          vector.setBytes(row, value instanceof Bitmap bitmap ? bitmap.toBytes() : (byte[]) value);
      case STRUCT -> setRow(vector, row, (RowData) value);
      case LIST -> {
        if (column.isMap()) {
          setMap(vector, row, (MapData) value);
        } else {
          int first = vector.appendElements(row, ((ArrayData) value).size());
          child(0).writeElements(vector.elements(), first, (ArrayData) value);
        }
      }
      case DICTIONARY -> throw new IllegalStateException("no expression gives " + column);
    }
  }

  private static long micros(TimestampData time) {
    return time.getMillisecond() * MICROS_OF_MILLI + time.getNanoOfMillisecond() / NANOS_OF_MICRO;
  }

  private static void setNanos(HostVector vector, int row, TimestampData time) {
    vector.setLiteral(row, new TimestampNanos(time.getMillisecond(), time.getNanoOfMillisecond()));
  }

  private void setRow(HostVector vector, int row, RowData values) {
    for (int i = 0; i < values.getArity(); i++) {
      RowData.FieldGetter field = RowData.createFieldGetter(type.getChildren().get(i), i);
      child(i).write(vector.fields().get(i), row, field.getFieldOrNull(values));
    }
  }

  private void setMap(HostVector vector, int row, MapData map) {
    int first = vector.appendElements(row, map.size());
    List<HostVector> entry = vector.elements().fields();
    child(0).writeElements(entry.get(0), first, map.keyArray());
    child(1).writeElements(entry.get(1), first, map.valueArray());
  }

  private void writeElements(HostVector vector, int first, ArrayData array) {
    ArrayData.ElementGetter element = ArrayData.createElementGetter(type);
    for (int i = 0; i < array.size(); i++) {
      write(vector, first + i, element.getElementOrNull(array, i));
    }
  }
}
