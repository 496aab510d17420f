// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.host;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.ColumnReader;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.ListColumnBuilder;
import io.millrace.column.StructColumnBuilder;
import io.millrace.column.VariableWidthColumnBuilder;
import io.millrace.expression.vector.HostVector;
import java.util.List;

/**
 * Copies nested values, and what is in them, from columns to vectors and from vectors to columns.
 */
final class NestedValues {
  private NestedValues() {}

  /** Copies the element {@code index} of a column to a row of a vector. */
  static void read(ColumnReader from, int index, HostVector to, int row) {
    if (from.isNull(index)) {
      to.setNull(row);
      return;
    }
    switch (from.type().id()) {
      case BOOL -> to.setBoolean(row, from.getBoolean(index));
      case INT8 -> to.longs()[row] = from.getByte(index);
      case INT16 -> to.longs()[row] = from.getShort(index);
      case INT32, DATE, TIME, DECIMAL32 -> to.longs()[row] = from.getInt(index);
      case INT64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, DECIMAL64 ->
          to.longs()[row] = from.getLong(index);
      case FLOAT32 -> to.doubles()[row] = from.getFloat(index);
      case FLOAT64 -> to.doubles()[row] = from.getDouble(index);
      case DECIMAL128 -> {
        to.longs()[row] = from.getDecimal128Low(index);
        to.secondParts()[row] = from.getDecimal128High(index);
      }
      case TIMESTAMP_NANOS -> {
        to.longs()[row] = from.getTimestampMillis(index);
        to.secondParts()[row] = from.getTimestampNanosOfMilli(index);
      }
      case STRING, BINARY -> to.setBytes(row, from.getBytesAddress(index), from.getLength(index));
      case LIST -> readList(from, index, to, row);
      case STRUCT -> {
        for (int i = 0; i < to.fields().size(); i++) {
          read(from.field(i), index, to.fields().get(i), row);
        }
      }
      case DICTIONARY -> throw new IllegalStateException("no expression reads " + from.type());
    }
  }

  private static void readList(ColumnReader from, int index, HostVector to, int row) {
    int length = from.getLength(index);
    int first = to.appendElements(row, length);
    for (int i = 0; i < length; i++) {
      read(from.elements(), from.getOffset(index) + i, to.elements(), first + i);
    }
  }

  /** Appends a row of a vector to a column. */
  static void append(HostVector from, int row, ColumnBuilder to) {
    if (from.isNull(row)) {
      to.appendNull();
      return;
    }
    switch (from.type().id()) {
      case LIST -> {
        ListColumnBuilder list = (ListColumnBuilder) to;
        for (int i = 0; i < from.length(row); i++) {
          append(from.elements(), from.firstElement(row) + i, list.elements());
        }
        list.appendList();
      }
      case STRUCT -> {
        StructColumnBuilder struct = (StructColumnBuilder) to;
        for (int i = 0; i < from.fields().size(); i++) {
          append(from.fields().get(i), row, struct.fields().get(i));
        }
        struct.appendStruct();
      }
      case TIMESTAMP_NANOS -> {
        StructColumnBuilder parts = (StructColumnBuilder) to;
        List<ColumnBuilder> fields = parts.fields();
        ((FixedWidthColumnBuilder) fields.get(0)).appendLong(from.longs()[row]);
        ((FixedWidthColumnBuilder) fields.get(1)).appendInt((int) from.secondParts()[row]);
        parts.appendStruct();
      }
      case STRING, BINARY -> ((VariableWidthColumnBuilder) to).appendBytes(from.getBytes(row));
      default -> appendFixedWidth(from, row, (FixedWidthColumnBuilder) to);
    }
  }

  private static void appendFixedWidth(HostVector from, int row, FixedWidthColumnBuilder to) {
    switch (from.type().id()) {
      case BOOL -> to.appendBoolean(from.getBoolean(row));
      case INT8 -> to.appendByte((byte) from.longs()[row]);
      case INT16 -> to.appendShort((short) from.longs()[row]);
      case INT32, DATE, TIME, DECIMAL32 -> to.appendInt((int) from.longs()[row]);
      case INT64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, DECIMAL64 -> to.appendLong(from.longs()[row]);
      case FLOAT32 -> to.appendFloat((float) from.doubles()[row]);
      case FLOAT64 -> to.appendDouble(from.doubles()[row]);
      case DECIMAL128 -> to.appendDecimal128(from.longs()[row], from.secondParts()[row]);
      default -> throw new IllegalStateException("no expression gives " + from.type());
    }
  }
}
