// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.column.Column;
import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.ListColumnBuilder;
import io.millrace.column.StructColumnBuilder;
import io.millrace.column.TypeId;
import io.millrace.column.VariableWidthColumnBuilder;
import io.millrace.device.DeviceStream;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Converts Java values to columns. The Java type is Boolean for BOOL, any Number for numbers,
 * BigDecimal with the type's scale for DECIMAL, LocalDate for DATE, LocalTime or its milliseconds
 * for TIME, LocalDateTime for TIMESTAMP without and Instant for TIMESTAMP with time zone, String
 * for STRING, ByteBuffer for BINARY, List of the elements for LIST, List of the fields for STRUCT,
 * and the type of the values for DICTIONARY.
 */
final class ColumnValues {
  private ColumnValues() {}

  static Column build(DataType type, List<?> values, DeviceStream stream, MemoryResource resource) {
    if (type.id() == TypeId.DICTIONARY) {
      return buildDictionary(type, values, stream, resource);
    }
    try (ColumnBuilder builder = ColumnBuilder.of(type, stream, resource)) {
      values.forEach(value -> append(builder, value));
      return builder.finish();
    }
  }

  private static Column buildDictionary(
      DataType type, List<?> values, DeviceStream stream, MemoryResource resource) {
    Set<Object> distinct = new LinkedHashSet<>(values);
    distinct.remove(null);
    List<Object> entries = new ArrayList<>(distinct);
    List<Integer> codes = new ArrayList<>();
    for (Object value : values) {
      codes.add(value == null ? null : entries.indexOf(value));
    }
    try (Column indices = build(DataType.INT32, codes, stream, resource)) {
      return new Column(
          type,
          values.size(),
          0,
          indices.data().orElseThrow().share(),
          indices.validity().map(Buffer::share).orElse(null),
          List.of(build(type.fields().get(0).type(), entries, stream, resource)));
    }
  }

  private static void append(ColumnBuilder builder, Object value) {
    if (value == null) {
      builder.appendNull();
    } else if (builder instanceof FixedWidthColumnBuilder fixed) {
      appendFixed(fixed, value);
    } else if (builder instanceof VariableWidthColumnBuilder variable) {
      variable.appendBytes(bytes(value));
    } else if (builder instanceof ListColumnBuilder list) {
      ((List<?>) value).forEach(element -> append(list.elements(), element));
      list.appendList();
    } else if (builder instanceof StructColumnBuilder struct) {
      List<?> fields = fields(struct.type(), value);
      for (int i = 0; i < fields.size(); i++) {
        append(struct.fields().get(i), fields.get(i));
      }
      struct.appendStruct();
    }
  }

  private static void appendFixed(FixedWidthColumnBuilder builder, Object value) {
    switch (builder.type().id()) {
      case BOOL -> builder.appendBoolean((Boolean) value);
      case INT8 -> builder.appendByte(((Number) value).byteValue());
      case INT16 -> builder.appendShort(((Number) value).shortValue());
      case INT32 -> builder.appendInt(((Number) value).intValue());
      case INT64 -> builder.appendLong(((Number) value).longValue());
      case FLOAT32 -> builder.appendFloat(((Number) value).floatValue());
      case FLOAT64 -> builder.appendDouble(((Number) value).doubleValue());
      case DECIMAL32 -> builder.appendInt(unscaled(builder.type(), value).intValueExact());
      case DECIMAL64 -> builder.appendLong(unscaled(builder.type(), value).longValueExact());
      case DECIMAL128 -> {
        BigInteger unscaled = unscaled(builder.type(), value);
        builder.appendDecimal128(
            unscaled.longValue(), unscaled.shiftRight(Long.SIZE).longValueExact());
      }
      case DATE -> builder.appendInt(Math.toIntExact(((LocalDate) value).toEpochDay()));
      case TIME ->
          builder.appendInt(
              value instanceof Integer millis
                  ? millis
                  : ((LocalTime) value).get(ChronoField.MILLI_OF_DAY));
      case TIMESTAMP_MILLIS -> builder.appendLong(instant(builder.type(), value).toEpochMilli());
      case TIMESTAMP_MICROS -> builder.appendLong(epochMicros(instant(builder.type(), value)));
      default -> throw new IllegalArgumentException(builder.type() + " has no fixed width");
    }
  }

  private static BigInteger unscaled(DataType type, Object value) {
    BigDecimal decimal = (BigDecimal) value;
    if (decimal.scale() != type.scale()) {
      throw new IllegalArgumentException(
          "expected a decimal with the scale of " + type + ", got " + value);
    }
    return decimal.unscaledValue();
  }

  private static Instant instant(DataType type, Object value) {
    return type.withTimeZone()
        ? (Instant) value
        : ((LocalDateTime) value).toInstant(ZoneOffset.UTC);
  }

  private static long epochMicros(Instant instant) {
    return BigInteger.valueOf(instant.getEpochSecond())
        .multiply(BigInteger.valueOf(1_000_000))
        .add(BigInteger.valueOf(instant.getNano() / 1_000))
        .longValueExact();
  }

  // TIMESTAMP(7..9) is built as a struct of milliseconds and nanoseconds of the millisecond.
  private static List<?> fields(DataType type, Object value) {
    if (type.id() != TypeId.TIMESTAMP_NANOS) {
      return (List<?>) value;
    }
    Instant instant = instant(type, value);
    return List.of(instant.toEpochMilli(), instant.get(ChronoField.NANO_OF_SECOND) % 1_000_000);
  }

  private static byte[] bytes(Object value) {
    if (value instanceof String string) {
      return string.getBytes(StandardCharsets.UTF_8);
    }
    ByteBuffer buffer = ((ByteBuffer) Objects.requireNonNull(value)).duplicate();
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }
}
