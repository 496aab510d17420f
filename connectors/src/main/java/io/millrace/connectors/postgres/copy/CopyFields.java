// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.copy;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import java.util.function.IntConsumer;

/** Appends values of columns as fields of COPY: the length, and the value in binary form. */
final class CopyFields {
  private static final int NULL = -1;
  private static final int MICROS_PER_MILLI = 1000;
  private static final int FIRST_SUBSCRIPT = 1;

  private final CopyBuffer out;
  private final Numeric numeric = new Numeric();

  CopyFields(CopyBuffer out) {
    this.out = out;
  }

  /** Appends the field at a row of {@code column}, also a null. */
  IntConsumer of(ColumnReader column) {
    IntConsumer value = value(column);
    return row -> {
      if (column.isNull(row)) {
        out.putInt(NULL);
      } else {
        value.accept(row);
      }
    };
  }

  private IntConsumer value(ColumnReader column) {
    DataType type = column.type();
    return switch (type.id()) {
      case BOOL -> row -> putByte(column.getBoolean(row) ? 1 : 0);
      case INT8 -> row -> putShort(column.getByte(row));
      case INT16 -> row -> putShort(column.getShort(row));
      case INT32 -> row -> putInt(column.getInt(row));
      case INT64 -> row -> putLong(column.getLong(row));
      case FLOAT32 -> row -> putInt(Float.floatToRawIntBits(column.getFloat(row)));
      case FLOAT64 -> row -> putLong(Double.doubleToRawLongBits(column.getDouble(row)));
      case DECIMAL32 -> row -> putNumeric(column.getInt(row), type.scale());
      case DECIMAL64 -> row -> putNumeric(column.getLong(row), type.scale());
      case DECIMAL128 ->
          row ->
              numeric.write(
                  column.getDecimal128High(row), column.getDecimal128Low(row), type.scale(), out);
      case DATE -> row -> putInt(PostgresTime.day(column.getInt(row)));
      case TIME -> row -> putLong((long) column.getInt(row) * MICROS_PER_MILLI);
      case TIMESTAMP_MILLIS -> row -> putLong(PostgresTime.microsOfMillis(column.getLong(row)));
      case TIMESTAMP_MICROS -> row -> putLong(PostgresTime.micros(column.getLong(row)));
      case STRING, BINARY -> row -> putBytes(column.getBytesAddress(row), column.getLength(row));
      case LIST -> list(column);
      case TIMESTAMP_NANOS, STRUCT, DICTIONARY ->
          throw new IllegalArgumentException(type + " has no form in PostgreSQL");
    };
  }

  private void putByte(int value) {
    out.putInt(Byte.BYTES);
    out.putByte(value);
  }

  private void putShort(int value) {
    out.putInt(Short.BYTES);
    out.putShort(value);
  }

  private void putInt(int value) {
    out.putInt(Integer.BYTES);
    out.putInt(value);
  }

  private void putLong(long value) {
    out.putInt(Long.BYTES);
    out.putLong(value);
  }

  private void putBytes(long address, int length) {
    out.putInt(length);
    out.put(address, length);
  }

  private void putNumeric(long unscaled, int scale) {
    numeric.write(unscaled >> (Long.SIZE - 1), unscaled, scale, out);
  }

  private IntConsumer list(ColumnReader column) {
    ColumnReader elements = column.elements();
    IntConsumer element = of(elements);
    int oid = PostgresType.ofElements(column.type()).oid();
    return row -> {
      int start = out.size();
      out.putInt(0); // the length, which is known behind the elements
      int length = column.getLength(row);
      out.putInt(length == 0 ? 0 : 1); // dimensions
      out.putInt(1); // there may be nulls
      out.putInt(oid);
      if (length > 0) {
        out.putInt(length);
        out.putInt(FIRST_SUBSCRIPT);
        int first = column.getOffset(row);
        for (int i = first; i < first + length; i++) {
          element.accept(i);
        }
      }
      out.putIntAt(start, out.size() - start - Integer.BYTES);
    };
  }
}
