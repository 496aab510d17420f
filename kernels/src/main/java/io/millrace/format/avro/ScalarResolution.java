// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.format.avro.AvroType.Kind;
import io.millrace.format.avro.AvroType.LogicalType;
import io.millrace.format.record.RecordField;
import java.math.BigInteger;

/** Makes the steps that read values into fields which are neither objects nor lists. */
final class ScalarResolution {
  private static final int NANOS_OF_SECOND_DIGITS = 9;
  private static final int NANOS_OF_MILLI = 1_000_000;
  private static final int NANOS_OF_MICRO = 1_000;

  private ScalarResolution() {}

  /** How values of a type are read into a field; null if they cannot be. */
  static AvroStepKind kind(AvroType type, RecordField into) {
    TypeId id = into.type().id();
    return switch (into.kind()) {
      case OBJECT, LIST -> null;
      case BOOL -> type.kind() == Kind.BOOLEAN ? AvroStepKind.BOOLEAN : null;
      case INTEGER -> integerKind(type, id);
      case FLOAT -> floatKind(type, id);
      case DECIMAL -> decimalKind(type, into.type().scale());
      case DATE -> hasMeaning(type, Kind.INT, LogicalType.DATE) ? AvroStepKind.INT : null;
      case TIME -> timeKind(type);
      case TIMESTAMP -> timestampKind(type, id);
      case STRING -> bytesKind(type, id);
    };
  }

  /** A step of the {@link #kind} of a type and a field, which is not ENUM. */
  static AvroStep step(AvroType type, int field, RecordField into) {
    AvroStep step = new AvroStep(kind(type, into), field, type.size());
    switch (into.kind()) {
      case DECIMAL -> step.setBound(BigInteger.TEN.pow(into.type().precision()));
      case TIME -> step.divisor = NANOS_OF_MILLI / unitNanos(type, NANOS_OF_MILLI);
      case TIMESTAMP -> convert(step, into.type(), type);
      default -> {}
    }
    return step;
  }

  private static boolean isPlain(AvroType type) {
    return type.logicalType() == LogicalType.NONE;
  }

  private static boolean hasMeaning(AvroType type, Kind kind, LogicalType logical) {
    return type.kind() == kind && (type.logicalType() == logical || isPlain(type));
  }

  private static AvroStepKind integerKind(AvroType type, TypeId id) {
    return switch (type.kind()) {
      case INT -> AvroStepKind.INT;
      case LONG -> id == TypeId.INT64 ? AvroStepKind.LONG : null;
      default -> null;
    };
  }

  private static AvroStepKind floatKind(AvroType type, TypeId id) {
    return switch (type.kind()) {
      case INT -> AvroStepKind.INT;
      case LONG -> AvroStepKind.LONG;
      case FLOAT -> AvroStepKind.FLOAT;
      case DOUBLE -> id == TypeId.FLOAT64 ? AvroStepKind.DOUBLE : null;
      default -> null;
    };
  }

  private static AvroStepKind decimalKind(AvroType type, int scale) {
    if (type.logicalType() != LogicalType.DECIMAL || type.scale() != scale) {
      return null;
    }
    return type.kind() == Kind.FIXED ? AvroStepKind.FIXED : AvroStepKind.BYTES;
  }

  private static AvroStepKind timeKind(AvroType type) {
    if (hasMeaning(type, Kind.INT, LogicalType.TIME_MILLIS)) {
      return AvroStepKind.INT;
    }
    boolean isMicros = type.kind() == Kind.LONG && type.logicalType() == LogicalType.TIME_MICROS;
    return isMicros ? AvroStepKind.LONG : null;
  }

  private static AvroStepKind timestampKind(AvroType type, TypeId id) {
    boolean hasUnit = type.logicalType().isTimestamp();
    boolean isReadable = hasUnit || (isPlain(type) && id != TypeId.TIMESTAMP_NANOS);
    return type.kind() == Kind.LONG && isReadable ? AvroStepKind.LONG : null;
  }

  private static AvroStepKind bytesKind(AvroType type, TypeId id) {
    boolean isText = id == TypeId.STRING;
    return switch (type.kind()) {
      case STRING, BYTES -> isText ? AvroStepKind.TEXT : AvroStepKind.BYTES;
      case FIXED -> isText ? null : AvroStepKind.FIXED;
      case ENUM -> isText ? AvroStepKind.ENUM : null;
      default -> null;
    };
  }

  private static int unitNanos(AvroType type, int otherwise) {
    return isPlain(type) ? otherwise : type.logicalType().unitNanos();
  }

  // Digits beyond the precision of the column are dropped.
  private static void convert(AvroStep step, DataType type, AvroType writer) {
    int columnUnit = type.id() == TypeId.TIMESTAMP_MILLIS ? NANOS_OF_MILLI : NANOS_OF_MICRO;
    long writerUnit = unitNanos(writer, columnUnit);
    long digit = BigInteger.TEN.pow(NANOS_OF_SECOND_DIGITS - type.precision()).longValueExact();
    step.divisor = Math.max(1, digit / writerUnit);
    long unit = step.divisor * writerUnit;
    if (type.id() == TypeId.TIMESTAMP_NANOS) {
      step.unit = (int) unit;
    } else {
      step.multiplier = unit / columnUnit;
    }
  }
}
