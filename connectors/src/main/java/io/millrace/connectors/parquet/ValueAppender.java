// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.StructColumnBuilder;
import io.millrace.column.VariableWidthColumnBuilder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.apache.parquet.format.SchemaElement;
import org.apache.parquet.format.Type;

/** Appends the value that a reader is at to a column. */
interface ValueAppender {
  void append() throws IOException;

  /**
   * An appender of values that are declared by {@code element}.
   *
   * @param builder of the column's type
   */
  static ValueAppender of(SchemaElement element, ColumnBuilder builder, LeafReader reader) {
    return switch (builder.type().id()) {
      case STRING, BINARY -> {
        VariableWidthColumnBuilder texts = (VariableWidthColumnBuilder) builder;
        yield () -> {
          reader.readBytes();
          texts.appendBytes(reader.bytes(), reader.start(), reader.length());
        };
      }
      case TIMESTAMP_NANOS -> nanos(element, (StructColumnBuilder) builder, reader);
      default -> fixedWidth(element, (FixedWidthColumnBuilder) builder, reader);
    };
  }

  private static ValueAppender fixedWidth(
      SchemaElement element, FixedWidthColumnBuilder builder, LeafReader reader) {
    DataType type = builder.type();
    if (type.isDecimal()) {
      return decimal(element, builder, reader);
    }
    return switch (type.id()) {
      case BOOL -> () -> builder.appendBoolean(reader.readBoolean());
      case INT8 -> () -> builder.appendByte((byte) reader.readInt());
      case INT16 -> () -> builder.appendShort((short) reader.readInt());
      case INT32, DATE, TIME -> () -> builder.appendInt(reader.readInt());
      case INT64 -> {
        boolean isUnsigned = element.getType() == Type.INT32;
        yield () ->
            builder.appendLong(
                isUnsigned ? Integer.toUnsignedLong(reader.readInt()) : reader.readLong());
      }
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS -> () -> builder.appendLong(reader.readLong());
      case FLOAT32 -> () -> builder.appendFloat(reader.readFloat());
      case FLOAT64 -> () -> builder.appendDouble(reader.readDouble());
      default -> throw new IllegalArgumentException("no values of Parquet are read as " + type);
    };
  }

  private static ValueAppender decimal(
      SchemaElement element, FixedWidthColumnBuilder builder, LeafReader reader) {
    return switch (element.getType()) {
      case INT32 -> () -> appendDecimal(builder, reader.readInt());
      case INT64 -> () -> appendDecimal(builder, reader.readLong());
      default ->
          () -> {
            reader.readBytes();
            appendDecimal(builder, reader.bytes(), reader.start(), reader.length());
          };
    };
  }

  // Bytes have the highest first.
  private static void appendDecimal(
      FixedWidthColumnBuilder builder, byte[] bytes, int start, int length) {
    long low = length > 0 ? bytes[start] >> 7 : 0;
    long high = low;
    for (int i = start; i < start + length; i++) {
      high = high << Byte.SIZE | low >>> (Long.SIZE - Byte.SIZE);
      low = low << Byte.SIZE | (bytes[i] & 0xff);
    }
    appendDecimal(builder, low, high);
  }

  private static void appendDecimal(FixedWidthColumnBuilder builder, long unscaled) {
    appendDecimal(builder, unscaled, unscaled >> (Long.SIZE - 1));
  }

  private static void appendDecimal(FixedWidthColumnBuilder builder, long low, long high) {
    switch (builder.type().id()) {
      case DECIMAL32 -> builder.appendInt((int) low);
      case DECIMAL64 -> builder.appendLong(low);
      default -> builder.appendDecimal128(low, high);
    }
  }

  private static ValueAppender nanos(
      SchemaElement element, StructColumnBuilder builder, LeafReader reader) {
    if (element.getType() == Type.INT64) {
      return () -> appendNanos(builder, 0, reader.readLong());
    }
    // INT96: the nanoseconds of a day, and its number since 4713 BC.
    long firstDay = 2_440_588;
    return () -> {
      reader.readBytes();
      ByteBuffer time =
          ByteBuffer.wrap(reader.bytes(), reader.start(), reader.length())
              .order(ByteOrder.LITTLE_ENDIAN);
      long nanos = time.getLong();
      appendNanos(builder, TimeUnit.DAYS.toMillis(time.getInt() - firstDay), nanos);
    };
  }

  private static void appendNanos(StructColumnBuilder builder, long startMillis, long nanos) {
    long perMilli = TimeUnit.MILLISECONDS.toNanos(1);
    ((FixedWidthColumnBuilder) builder.fields().get(0))
        .appendLong(startMillis + Math.floorDiv(nanos, perMilli));
    ((FixedWidthColumnBuilder) builder.fields().get(1))
        .appendInt((int) Math.floorMod(nanos, perMilli));
    builder.appendStruct();
  }
}
