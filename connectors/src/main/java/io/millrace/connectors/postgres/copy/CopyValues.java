// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.copy;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.ListColumnBuilder;
import io.millrace.column.VariableWidthColumnBuilder;
import io.millrace.device.HostMemory;
import java.nio.ByteBuffer;

/** Appends values of fields of COPY to columns. */
final class CopyValues {
  private static final int MICROS_PER_MILLI = 1000;
  private static final int MILLIS_PER_DAY = 86_400_000;

  private CopyValues() {}

  /** Appends the value of {@code length} bytes at the position of {@code in}, which is not null. */
  @FunctionalInterface
  interface Appender {
    void append(ByteBuffer in, int length);
  }

  /**
   * Appends to {@code column}.
   *
   * @throws IllegalArgumentException if its type has no form in PostgreSQL
   */
  static Appender appender(ColumnBuilder column) {
    DataType type = column.type();
    return switch (type.id()) {
      case STRING, BINARY -> bytes((VariableWidthColumnBuilder) column);
      case LIST -> list((ListColumnBuilder) column);
      case TIMESTAMP_NANOS, STRUCT, DICTIONARY ->
          throw new IllegalArgumentException(type + " has no form in PostgreSQL");
      default -> fixedWidth((FixedWidthColumnBuilder) column);
    };
  }

  private static Appender fixedWidth(FixedWidthColumnBuilder column) {
    DataType type = column.type();
    return switch (type.id()) {
      case BOOL -> sized(1, in -> column.appendByte(in.get()));
      case INT8 -> sized(Short.BYTES, in -> column.appendByte(tinyint(in.getShort())));
      case INT16 -> sized(Short.BYTES, in -> column.appendShort(in.getShort()));
      case INT32, FLOAT32 -> sized(Integer.BYTES, in -> column.appendInt(in.getInt()));
      case INT64, FLOAT64 -> sized(Long.BYTES, in -> column.appendLong(in.getLong()));
      case DECIMAL32, DECIMAL64, DECIMAL128 -> decimal(column);
      case DATE -> sized(Integer.BYTES, in -> column.appendInt(PostgresTime.epochDay(in.getInt())));
      case TIME -> sized(Long.BYTES, in -> column.appendInt(millisOfDay(in.getLong())));
      case TIMESTAMP_MILLIS ->
          sized(
              Long.BYTES,
              in ->
                  column.appendLong(
                      Math.floorDiv(PostgresTime.epochMicros(in.getLong()), MICROS_PER_MILLI)));
      case TIMESTAMP_MICROS ->
          sized(Long.BYTES, in -> column.appendLong(PostgresTime.epochMicros(in.getLong())));
      default -> throw new IllegalArgumentException(type + " has no form in PostgreSQL");
    };
  }

  @FunctionalInterface
  private interface SizedAppender {
    void append(ByteBuffer in);
  }

  private static Appender sized(int expected, SizedAppender appender) {
    return (in, length) -> {
      if (length != expected) {
        throw new IllegalArgumentException(
            "expected a value of " + expected + " bytes, got " + length);
      }
      appender.append(in);
    };
  }

  private static byte tinyint(short value) {
    if (value != (byte) value) {
      throw new IllegalArgumentException(value + " does not fit TINYINT");
    }
    return (byte) value;
  }

  private static int millisOfDay(long micros) {
    long millis = micros / MICROS_PER_MILLI;
    if (millis >= MILLIS_PER_DAY) {
      throw new IllegalArgumentException("the time 24:00 does not fit TIME");
    }
    return (int) millis;
  }

  private static Appender decimal(FixedWidthColumnBuilder column) {
    DataType type = column.type();
    Numeric numeric = new Numeric();
    return (in, length) -> {
      numeric.read(in, type.precision(), type.scale());
      switch (type.id()) {
        case DECIMAL32 -> column.appendInt((int) numeric.low());
        case DECIMAL64 -> column.appendLong(numeric.low());
        default -> column.appendDecimal128(numeric.low(), numeric.high());
      }
    };
  }

  private static Appender bytes(VariableWidthColumnBuilder column) {
    return (in, length) -> {
      long address = column.appendUninitialized(length);
      HostMemory.copyFromArray(address, in.array(), in.arrayOffset() + in.position(), length);
    };
  }

  private static Appender list(ListColumnBuilder column) {
    int oid = PostgresType.ofElements(column.type()).oid();
    Appender element = appender(column.elements());
    return (in, length) -> {
      int dimensions = in.getInt();
      in.getInt(); // whether there are nulls
      int elementOid = in.getInt();
      if (dimensions > 1 || elementOid != oid) {
        throw new IllegalArgumentException(
            "expected an array of one dimension and elements of type "
                + oid
                + ", got "
                + dimensions
                + " dimensions and type "
                + elementOid);
      }
      int elements = dimensions == 0 ? 0 : in.getInt();
      if (dimensions > 0) {
        in.getInt(); // the first subscript
      }
      for (int i = 0; i < elements; i++) {
        CopyBinaryDecoder.append(in, column.elements(), element);
      }
      column.appendList();
    };
  }
}
