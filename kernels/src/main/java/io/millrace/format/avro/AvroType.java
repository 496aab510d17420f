// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.annotation.PublicEvolving;
import java.io.Serializable;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * A type of an Avro schema: what the bytes of a value are. Immutable. A type cannot contain itself.
 *
 * @param kind which type
 * @param logicalType what a value means
 * @param scale digits behind the point of a {@link LogicalType#DECIMAL}, else 0
 * @param size bytes of a FIXED, else 0
 * @param symbols of an ENUM, else empty
 * @param fields of a RECORD, in the order of their bytes; the branches of a UNION, the only element
 *     of an ARRAY and the only value of a MAP, with empty names; else empty
 */
@PublicEvolving
public record AvroType(
    Kind kind,
    LogicalType logicalType,
    int scale,
    int size,
    List<String> symbols,
    List<Field> fields)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Avro's types. */
  public enum Kind {
    NULL,
    BOOLEAN,
    INT,
    LONG,
    FLOAT,
    DOUBLE,
    BYTES,
    STRING,
    FIXED,
    ENUM,
    RECORD,
    UNION,
    ARRAY,
    MAP
  }

  /** What values mean, as far as it matters for reading them. */
  public enum LogicalType {
    NONE(0),
    DATE(0),
    DECIMAL(0),
    TIME_MILLIS(1_000_000),
    TIME_MICROS(1_000),
    /** With or without time zone, as the following types. */
    TIMESTAMP_MILLIS(1_000_000),
    TIMESTAMP_MICROS(1_000),
    TIMESTAMP_NANOS(1);

    private final int unitNanos;

    LogicalType(int unitNanos) {
      this.unitNanos = unitNanos;
    }

    /** Nanoseconds of the unit of a time or timestamp; else 0. */
    int unitNanos() {
      return unitNanos;
    }

    boolean isTime() {
      return this == TIME_MILLIS || this == TIME_MICROS;
    }

    boolean isTimestamp() {
      return unitNanos > 0 && !isTime();
    }
  }

  /** A field of a record. */
  public record Field(String name, AvroType type) implements Serializable {
    private static final long serialVersionUID = 1L;

    public Field {
      Objects.requireNonNull(name, "name is null");
      Objects.requireNonNull(type, "type is null");
    }
  }

  public AvroType {
    Objects.requireNonNull(kind, "kind is null");
    Objects.requireNonNull(logicalType, "logicalType is null");
    symbols = List.copyOf(symbols);
    fields = List.copyOf(fields);
  }

  /** A type that its kind describes, such as a LONG. */
  public static AvroType of(Kind kind) {
    return new AvroType(kind, LogicalType.NONE, 0, 0, List.of(), List.of());
  }

  /** The same bytes with a meaning. */
  public AvroType withLogicalType(LogicalType logical) {
    return new AvroType(kind, logical, 0, size, symbols, fields);
  }

  /** The same bytes as the unscaled value of a decimal. */
  public AvroType decimal(int decimalScale) {
    return new AvroType(kind, LogicalType.DECIMAL, decimalScale, size, symbols, fields);
  }

  public static AvroType fixed(int bytes) {
    return new AvroType(Kind.FIXED, LogicalType.NONE, 0, bytes, List.of(), List.of());
  }

  /** An enum, whose symbols are written as numbers from 0 on. */
  public static AvroType enumOf(List<String> symbols) {
    return new AvroType(Kind.ENUM, LogicalType.NONE, 0, 0, symbols, List.of());
  }

  public static AvroType record(List<Field> fields) {
    return nested(Kind.RECORD, fields);
  }

  public static AvroType array(AvroType element) {
    return nested(Kind.ARRAY, List.of(new Field("", element)));
  }

  /** A map, whose keys are strings. */
  public static AvroType map(AvroType value) {
    return nested(Kind.MAP, List.of(new Field("", value)));
  }

  public static AvroType union(List<AvroType> branches) {
    return nested(Kind.UNION, branches.stream().map(branch -> new Field("", branch)).toList());
  }

  private static AvroType nested(Kind kind, List<Field> fields) {
    return new AvroType(kind, LogicalType.NONE, 0, 0, List.of(), fields);
  }

  /** The type in the words of Avro, without the fields of records. */
  @Override
  public String toString() {
    String name = kind.name().toLowerCase(Locale.ROOT);
    return switch (kind) {
      case UNION, ARRAY, MAP ->
          fields.stream()
              .map(field -> field.type().toString())
              .collect(Collectors.joining(", ", name + "<", ">"));
      default ->
          logicalType == LogicalType.NONE
              ? name
              : name
                  + " ("
                  + logicalType.name().toLowerCase(Locale.ROOT).replace('_', '-')
                  + (logicalType == LogicalType.DECIMAL ? " of scale " + scale : "")
                  + ")";
    };
  }
}
