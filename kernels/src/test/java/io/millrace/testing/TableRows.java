// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessScope;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;

/**
 * Converts tables to Java values: the values that {@link TableBuilder} accepts, with numbers in the
 * Java type of their column. Tables are copied to the host first. Two tables are equal if their
 * rows are equal.
 */
public final class TableRows {
  private TableRows() {}

  /** The rows of {@code table}, on any device. */
  public static List<List<Object>> of(Table table, DeviceExtension device) {
    try (Table host = device.copyToHost(table)) {
      return ofHost(host, device.hostStream());
    }
  }

  /** The rows of {@code host}, which is in host memory. */
  public static List<List<Object>> ofHost(Table host, DeviceStream hostStream) {
    try (AccessScope scope = AccessScope.on(hostStream)) {
      List<ColumnReader> readers =
          host.columns().stream().map(column -> new ColumnReader(column, scope)).toList();
      List<List<Object>> rows = new ArrayList<>();
      for (int row = 0; row < host.rowCount(); row++) {
        List<Object> values = new ArrayList<>();
        for (ColumnReader reader : readers) {
          values.add(value(reader, row));
        }
        rows.add(values);
      }
      return rows;
    }
  }

  /** The values of {@code column}, on any device. */
  public static List<Object> of(Column column, DeviceExtension device) {
    try (Column host = column.copyTo(device.hostMemory(), device.hostStream(), device.stream());
        AccessScope scope = AccessScope.on(device.hostStream())) {
      return values(new ColumnReader(host, scope), 0, host.size());
    }
  }

  /**
   * The time of day as a LocalTime, or {@code millis} itself if it is out of LocalTime's range,
   * such as the end of the day that CEIL returns.
   */
  public static Object time(int millis) {
    boolean isOfDay = millis >= 0 && millis < Duration.ofDays(1).toMillis();
    return isOfDay ? LocalTime.ofNanoOfDay(millis * 1_000_000L) : (Object) millis;
  }

  private static List<Object> values(ColumnReader reader, int start, int count) {
    List<Object> values = new ArrayList<>();
    for (int row = start; row < start + count; row++) {
      values.add(value(reader, row));
    }
    return values;
  }

  private static Object value(ColumnReader reader, int row) {
    if (reader.isNull(row)) {
      return null;
    }
    DataType type = reader.type();
    return switch (type.id()) {
      case BOOL -> reader.getBoolean(row);
      case INT8 -> reader.getByte(row);
      case INT16 -> reader.getShort(row);
      case INT32 -> reader.getInt(row);
      case INT64 -> reader.getLong(row);
      case FLOAT32 -> reader.getFloat(row);
      case FLOAT64 -> reader.getDouble(row);
      case DECIMAL32 -> BigDecimal.valueOf(reader.getInt(row), type.scale());
      case DECIMAL64 -> BigDecimal.valueOf(reader.getLong(row), type.scale());
      case DECIMAL128 -> new BigDecimal(decimal128(reader, row), type.scale());
      case DATE -> LocalDate.ofEpochDay(reader.getInt(row));
      case TIME -> time(reader.getInt(row));
      case TIMESTAMP_MILLIS -> timestamp(type, Instant.ofEpochMilli(reader.getLong(row)));
      case TIMESTAMP_MICROS -> timestamp(type, instantOfMicros(reader.getLong(row)));
      case TIMESTAMP_NANOS ->
          timestamp(
              type,
              Instant.ofEpochMilli(reader.getTimestampMillis(row))
                  .plusNanos(reader.getTimestampNanosOfMilli(row)));
      case STRING -> new String(reader.getBytes(row), StandardCharsets.UTF_8);
      case BINARY -> ByteBuffer.wrap(reader.getBytes(row));
      case LIST -> values(reader.elements(), reader.getOffset(row), reader.getLength(row));
      case STRUCT -> struct(reader, row);
      case DICTIONARY -> value(reader.dictionary(), reader.getInt(row));
    };
  }

  private static List<Object> struct(ColumnReader reader, int row) {
    List<Object> values = new ArrayList<>();
    for (int i = 0; i < reader.type().fields().size(); i++) {
      values.add(value(reader.field(i), row));
    }
    return values;
  }

  private static BigInteger decimal128(ColumnReader reader, int row) {
    byte[] bytes =
        ByteBuffer.allocate(2 * Long.BYTES)
            .putLong(reader.getDecimal128High(row))
            .putLong(reader.getDecimal128Low(row))
            .array();
    return new BigInteger(bytes);
  }

  private static Instant instantOfMicros(long micros) {
    return Instant.ofEpochSecond(
        Math.floorDiv(micros, 1_000_000), Math.floorMod(micros, 1_000_000) * 1_000L);
  }

  private static Object timestamp(DataType type, Instant instant) {
    return type.withTimeZone() ? instant : LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
  }
}
