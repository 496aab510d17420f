// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.TypeId;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.util.List;

/** Writes rows as {@link AvroWriter} does, and gives the schema of what it writes. */
public final class ReferenceAvro {
  private ReferenceAvro() {}

  /** The datum of a row. */
  public static byte[] datum(List<Field> fields, List<?> row) {
    AvroDatum datum = new AvroDatum();
    putFields(datum, fields, row);
    return datum.bytes();
  }

  private static void putFields(AvroDatum datum, List<Field> fields, List<?> values) {
    for (int i = 0; i < fields.size(); i++) {
      put(datum, fields.get(i), values.get(i));
    }
  }

  private static boolean isUnion(Field field) {
    return field.nullable() || field.type().id() == TypeId.DICTIONARY;
  }

  private static void put(AvroDatum datum, Field field, Object value) {
    if (isUnion(field)) {
      datum.number(value == null ? 0 : 1);
    }
    if (value != null) {
      put(datum, field.type(), value);
    }
  }

  private static void put(AvroDatum datum, DataType type, Object value) {
    switch (type.id()) {
      case BOOL -> datum.raw((boolean) value ? 1 : 0);
      case INT8, INT16, INT32, INT64 -> datum.number(((Number) value).longValue());
      case FLOAT32 -> datum.real((float) value);
      case FLOAT64 -> datum.real((double) value);
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          datum.sized(((BigDecimal) value).unscaledValue().toByteArray());
      case DATE -> datum.number(((LocalDate) value).toEpochDay());
      case TIME -> datum.number(((LocalTime) value).toNanoOfDay() / 1_000_000);
      case TIMESTAMP_MILLIS -> datum.number(instant(value).toEpochMilli());
      case TIMESTAMP_MICROS -> datum.number(micros(instant(value)));
      case STRING -> datum.text((String) value);
      case BINARY -> datum.sized(((ByteBuffer) value).array());
      case STRUCT -> putFields(datum, type.fields(), (List<?>) value);
      case LIST -> putList(datum, type.fields().get(0), (List<?>) value);
      case DICTIONARY -> put(datum, type.fields().get(0).type(), value);
      case TIMESTAMP_NANOS -> throw new IllegalArgumentException(type.toString());
    }
  }

  private static void putList(AvroDatum datum, Field element, List<?> values) {
    if (!values.isEmpty()) {
      datum.number(values.size());
      values.forEach(value -> put(datum, element, value));
    }
    datum.number(0);
  }

  private static Instant instant(Object value) {
    return value instanceof LocalDateTime time ? time.toInstant(ZoneOffset.UTC) : (Instant) value;
  }

  // The product may be out of range where the sum is not.
  private static long micros(Instant value) {
    return value.getEpochSecond() * 1_000_000 + value.getNano() / 1000;
  }

  /** The schema of the datums of rows. */
  public static AvroType type(List<Field> fields) {
    return AvroType.record(
        fields.stream().map(field -> new AvroType.Field(field.name(), nullable(field))).toList());
  }

  private static AvroType nullable(Field field) {
    AvroType type = type(field.type());
    return isUnion(field) ? AvroType.union(List.of(AvroType.of(AvroType.Kind.NULL), type)) : type;
  }

  private static AvroType type(DataType type) {
    return switch (type.id()) {
      case BOOL -> AvroType.of(AvroType.Kind.BOOLEAN);
      case INT8, INT16, INT32 -> AvroType.of(AvroType.Kind.INT);
      case INT64 -> AvroType.of(AvroType.Kind.LONG);
      case FLOAT32 -> AvroType.of(AvroType.Kind.FLOAT);
      case FLOAT64 -> AvroType.of(AvroType.Kind.DOUBLE);
      case DECIMAL32, DECIMAL64, DECIMAL128 ->
          AvroType.of(AvroType.Kind.BYTES).decimal(type.scale());
      case DATE -> AvroType.of(AvroType.Kind.INT).withLogicalType(AvroType.LogicalType.DATE);
      case TIME -> AvroType.of(AvroType.Kind.INT).withLogicalType(AvroType.LogicalType.TIME_MILLIS);
      case TIMESTAMP_MILLIS ->
          AvroType.of(AvroType.Kind.LONG).withLogicalType(AvroType.LogicalType.TIMESTAMP_MILLIS);
      case TIMESTAMP_MICROS ->
          AvroType.of(AvroType.Kind.LONG).withLogicalType(AvroType.LogicalType.TIMESTAMP_MICROS);
      case STRING -> AvroType.of(AvroType.Kind.STRING);
      case BINARY -> AvroType.of(AvroType.Kind.BYTES);
      case STRUCT -> type(type.fields());
      case LIST -> AvroType.array(nullable(type.fields().get(0)));
      case DICTIONARY -> type(type.fields().get(0).type());
      case TIMESTAMP_NANOS -> throw new IllegalArgumentException(type.toString());
    };
  }
}
