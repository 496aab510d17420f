// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.testing.TableBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/** A recorded table of cells; src/test/resources/golden says how they are written. */
record GoldenTable(List<String> names, List<List<String>> rows) {
  private static final Map<String, DataType> TYPES =
      Map.ofEntries(
          Map.entry("bool", DataType.BOOL),
          Map.entry("int8", DataType.INT8),
          Map.entry("int16", DataType.INT16),
          Map.entry("int32", DataType.INT32),
          Map.entry("int64", DataType.INT64),
          Map.entry("float32_bits", DataType.FLOAT32),
          Map.entry("float64_bits", DataType.FLOAT64),
          Map.entry("decimal9_2_unscaled", DataType.decimal(9, 2)),
          Map.entry("decimal18_6_unscaled", DataType.decimal(18, 6)),
          Map.entry("decimal64_unscaled", DataType.decimal(18, 2)),
          Map.entry("decimal38_10_unscaled", DataType.decimal(38, 10)),
          Map.entry("date", DataType.DATE),
          Map.entry("time_ms", DataType.TIME),
          Map.entry("timestamp3_ms", DataType.timestamp(3)),
          Map.entry("timestamp6_us", DataType.timestamp(6)),
          Map.entry("timestamp_us", DataType.timestamp(6)),
          Map.entry("timestamp9_ms:nanos", DataType.timestamp(9)),
          Map.entry("string_utf8_hex", DataType.STRING),
          Map.entry("binary_hex", DataType.BINARY));

  static GoldenTable read(String file) {
    try (InputStream stream = GoldenTable.class.getResourceAsStream("/golden/" + file)) {
      List<List<String>> rows = new ArrayList<>();
      new String(stream.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .forEach(line -> rows.add(Arrays.asList(line.split(",", -1))));
      return new GoldenTable(rows.get(0), rows.subList(1, rows.size()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  List<String> column(String name) {
    int at = names.indexOf(name);
    return rows.stream().map(row -> row.get(at)).toList();
  }

  /** The columns of these names as values. */
  TableBuilder builder(List<String> columns) {
    TableBuilder builder = new TableBuilder();
    for (String name : columns) {
      DataType type = TYPES.get(name);
      List<Object> values = new ArrayList<>();
      column(name).forEach(cell -> values.add(cell.equals("null") ? null : value(type, cell)));
      builder.column(Field.of(name, type), values);
    }
    return builder;
  }

  private static Object value(DataType type, String cell) {
    return switch (type.id()) {
      case BOOL -> Boolean.valueOf(cell);
      case INT8 -> Byte.valueOf(cell);
      case INT16 -> Short.valueOf(cell);
      case INT32 -> Integer.valueOf(cell);
      case INT64 -> Long.valueOf(cell);
      case FLOAT32 -> Float.intBitsToFloat((int) Long.parseLong(cell));
      case FLOAT64 -> Double.longBitsToDouble(Long.parseLong(cell));
      case DECIMAL32, DECIMAL64, DECIMAL128 -> new BigDecimal(new BigInteger(cell), type.scale());
      case DATE -> LocalDate.ofEpochDay(Long.parseLong(cell));
      case TIME -> LocalTime.ofNanoOfDay(Long.parseLong(cell) * 1_000_000);
      case TIMESTAMP_MILLIS -> at(Instant.ofEpochMilli(Long.parseLong(cell)));
      case TIMESTAMP_MICROS -> {
        long micros = Long.parseLong(cell);
        long seconds = Math.floorDiv(micros, 1_000_000);
        yield at(Instant.ofEpochSecond(seconds, Math.floorMod(micros, 1_000_000) * 1_000L));
      }
      case TIMESTAMP_NANOS -> {
        int colon = cell.indexOf(':');
        long millis = Long.parseLong(cell.substring(0, colon));
        yield at(Instant.ofEpochMilli(millis).plusNanos(Long.parseLong(cell.substring(colon + 1))));
      }
      case STRING -> new String(bytes(cell), StandardCharsets.UTF_8);
      case BINARY -> ByteBuffer.wrap(bytes(cell));
      default -> throw new IllegalArgumentException(type.toString());
    };
  }

  private static LocalDateTime at(Instant instant) {
    return LocalDateTime.ofInstant(instant, ZoneOffset.UTC);
  }

  private static byte[] bytes(String cell) {
    return HexFormat.of().parseHex(cell.substring(1));
  }
}
