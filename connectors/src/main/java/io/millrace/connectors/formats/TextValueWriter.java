// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.time.LocalDate;
import java.util.Base64;
import java.util.function.IntConsumer;

/**
 * Appends values of columns as the text that {@link ScalarParser} reads back, without quotes around
 * it. A value under a null is not asked for.
 */
final class TextValueWriter {
  private static final long MILLIS_PER_DAY = 86_400_000L;
  private static final long MICROS_PER_DAY = MILLIS_PER_DAY * 1000;
  private static final long NANOS_PER_MILLI = 1_000_000;
  private static final long NANOS_PER_SECOND = 1_000_000_000;
  private static final int NANO_DIGITS = 9;
  private static final int MILLI_DIGITS = 3;

  private final TextBuffer out;
  private long lastDay;
  private byte[] lastDayText = {};

  TextValueWriter(TextBuffer out) {
    this.out = out;
  }

  /**
   * Appends the value at a row of {@code column}, which is not a STRING, LIST, STRUCT or
   * DICTIONARY.
   */
  IntConsumer of(ColumnReader column) {
    DataType type = column.type();
    return switch (type.id()) {
      case BOOL -> row -> out.append(column.getBoolean(row) ? "true" : "false");
      case INT8 -> row -> out.appendLong(column.getByte(row));
      case INT16 -> row -> out.appendLong(column.getShort(row));
      case INT32 -> row -> out.appendLong(column.getInt(row));
      case INT64 -> row -> out.appendLong(column.getLong(row));
      case FLOAT32 -> row -> out.append(Float.toString(column.getFloat(row)));
      case FLOAT64 -> row -> out.append(Double.toString(column.getDouble(row)));
      case DECIMAL32 -> row -> appendDecimal(BigInteger.valueOf(column.getInt(row)), type.scale());
      case DECIMAL64 -> row -> appendDecimal(BigInteger.valueOf(column.getLong(row)), type.scale());
      case DECIMAL128 -> row -> appendDecimal(unscaled(column, row), type.scale());
      case DATE -> row -> appendDate(column.getInt(row));
      case TIME -> row -> appendTime(column.getInt(row) * NANOS_PER_MILLI, MILLI_DIGITS);
      case TIMESTAMP_MILLIS -> row -> appendMillis(type, column.getLong(row), 0);
      case TIMESTAMP_MICROS -> row -> appendMicros(type, column.getLong(row));
      case TIMESTAMP_NANOS ->
          row ->
              appendMillis(
                  type, column.getTimestampMillis(row), column.getTimestampNanosOfMilli(row));
      case BINARY -> row -> out.append(Base64.getEncoder().encode(column.getBytes(row)));
      case STRING, LIST, STRUCT, DICTIONARY ->
          throw new IllegalArgumentException(type + " has no text without quotes");
    };
  }

  private static BigInteger unscaled(ColumnReader column, int row) {
    byte[] bigEndian =
        ByteBuffer.allocate(2 * Long.BYTES)
            .putLong(column.getDecimal128High(row))
            .putLong(column.getDecimal128Low(row))
            .array();
    return new BigInteger(bigEndian);
  }

  private void appendDecimal(BigInteger unscaled, int scale) {
    out.append(new BigDecimal(unscaled, scale).toPlainString());
  }

  private void appendMillis(DataType type, long millis, int nanosOfMilli) {
    appendTimestamp(
        type,
        Math.floorDiv(millis, MILLIS_PER_DAY),
        Math.floorMod(millis, MILLIS_PER_DAY) * NANOS_PER_MILLI + nanosOfMilli);
  }

  private void appendMicros(DataType type, long micros) {
    appendTimestamp(
        type, Math.floorDiv(micros, MICROS_PER_DAY), Math.floorMod(micros, MICROS_PER_DAY) * 1000);
  }

  private void appendTimestamp(DataType type, long day, long nanosOfDay) {
    appendDate(day);
    out.append('T');
    appendTime(nanosOfDay, type.precision());
    if (type.withTimeZone()) {
      out.append('Z');
    }
  }

  // Neighbouring rows mostly have the same day.
  private void appendDate(long day) {
    if (day != lastDay || lastDayText.length == 0) {
      int start = out.size();
      out.append(LocalDate.ofEpochDay(day).toString());
      lastDay = day;
      lastDayText = out.copyFrom(start);
    } else {
      out.append(lastDayText);
    }
  }

  private void appendTime(long nanosOfDay, int fractionDigits) {
    int second = (int) (nanosOfDay / NANOS_PER_SECOND);
    out.appendPadded(second / 3600, 2);
    out.append(':');
    out.appendPadded(second / 60 % 60, 2);
    out.append(':');
    out.appendPadded(second % 60, 2);
    if (fractionDigits > 0) {
      out.append('.');
      int fraction = (int) (nanosOfDay % NANOS_PER_SECOND);
      for (int digits = fractionDigits; digits < NANO_DIGITS; digits++) {
        fraction /= 10;
      }
      out.appendPadded(fraction, fractionDigits);
    }
  }
}
