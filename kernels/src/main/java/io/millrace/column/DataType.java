// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import java.io.Serializable;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;

/**
 * The type of a column's elements. Immutable; equal types are interchangeable.
 *
 * @param id the kind
 * @param precision digits of a decimal, digits of a second's fraction of a timestamp, else 0
 * @param scale digits after a decimal's point, else 0
 * @param withTimeZone whether a timestamp is an instant (Flink's TIMESTAMP_LTZ)
 * @param fields the fields of a STRUCT, the element field of a LIST or a BITMAP, the value field of
 *     a DICTIONARY, else empty
 */
@PublicEvolving
public record DataType(
    TypeId id, int precision, int scale, boolean withTimeZone, List<Field> fields)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  public static final DataType BOOL = simple(TypeId.BOOL);
  public static final DataType INT8 = simple(TypeId.INT8);
  public static final DataType INT16 = simple(TypeId.INT16);
  public static final DataType INT32 = simple(TypeId.INT32);
  public static final DataType INT64 = simple(TypeId.INT64);
  public static final DataType FLOAT32 = simple(TypeId.FLOAT32);
  public static final DataType FLOAT64 = simple(TypeId.FLOAT64);
  public static final DataType DATE = simple(TypeId.DATE);
  public static final DataType TIME = simple(TypeId.TIME);
  public static final DataType STRING = simple(TypeId.STRING);
  private static final String ENTRIES = "entries";

  public static final DataType BINARY = simple(TypeId.BINARY);

  /**
   * Flink's BITMAP, a set of INTs: BINARY in RoaringBitmap's portable format, as in Flink's binary
   * rows. It is told from other BINARY by its element.
   */
  public static final DataType BITMAP =
      new DataType(TypeId.BINARY, 0, 0, false, List.of(new Field("element", INT32, false)));

  /** A named part of a nested type, or a column of a {@link Schema}. */
  public record Field(String name, DataType type, boolean nullable) implements Serializable {
    private static final long serialVersionUID = 1L;

    public Field {
      Objects.requireNonNull(name, "name is null");
      Objects.requireNonNull(type, "type is null");
    }

    /** A nullable field. */
    public static Field of(String name, DataType type) {
      return new Field(name, type, true);
    }

    @Override
    public String toString() {
      return name + " " + type + (nullable ? "" : " NOT NULL");
    }
  }

  public DataType {
    Objects.requireNonNull(id, "id is null");
    fields = List.copyOf(fields);
  }

  private static DataType simple(TypeId id) {
    return new DataType(id, 0, 0, false, List.of());
  }

  /**
   * The narrowest decimal that holds {@code precision} digits.
   *
   * @throws IllegalArgumentException unless 1 <= precision <= 38 and 0 <= scale <= precision
   */
  public static DataType decimal(int precision, int scale) {
    if (precision < 1 || precision > 38 || scale < 0 || scale > precision) {
      throw new IllegalArgumentException("no DECIMAL(" + precision + ", " + scale + ")");
    }
    TypeId id =
        precision <= 9 ? TypeId.DECIMAL32 : precision <= 18 ? TypeId.DECIMAL64 : TypeId.DECIMAL128;
    return new DataType(id, precision, scale, false, List.of());
  }

  /** A timestamp without time zone. */
  public static DataType timestamp(int precision) {
    return timestamp(precision, false);
  }

  /**
   * A timestamp; with time zone it is an instant.
   *
   * @throws IllegalArgumentException unless 0 <= precision <= 9
   */
  public static DataType timestamp(int precision, boolean withTimeZone) {
    if (precision < 0 || precision > 9) {
      throw new IllegalArgumentException("no TIMESTAMP(" + precision + ")");
    }
    TypeId id =
        precision <= 3
            ? TypeId.TIMESTAMP_MILLIS
            : precision <= 6 ? TypeId.TIMESTAMP_MICROS : TypeId.TIMESTAMP_NANOS;
    return new DataType(id, precision, 0, withTimeZone, List.of());
  }

  public static DataType list(DataType element) {
    return new DataType(TypeId.LIST, 0, 0, false, List.of(Field.of("element", element)));
  }

  public static DataType struct(Field... fields) {
    return new DataType(TypeId.STRUCT, 0, 0, false, List.of(fields));
  }

  /**
   * A MAP: a LIST of entries that are structs of a key and a value, as in Arrow, told from other
   * lists by the name of the entries.
   */
  public static DataType map(Field key, Field value) {
    DataType entry =
        struct(
            new Field("key", key.type(), key.nullable()),
            new Field("value", value.type(), value.nullable()));
    return new DataType(TypeId.LIST, 0, 0, false, List.of(new Field(ENTRIES, entry, false)));
  }

  /** Whether this is a {@link #map}. */
  public boolean isMap() {
    return id == TypeId.LIST && fields.get(0).name().equals(ENTRIES);
  }

  /** Whether this is a {@link #map}, or there is a map in it. */
  public boolean hasMap() {
    return isMap() || fields.stream().anyMatch(field -> field.type().hasMap());
  }

  /** Whether this is {@link #BITMAP}, or there is a bitmap in it. */
  public boolean hasBitmap() {
    return isBitmap() || fields.stream().anyMatch(field -> field.type().hasBitmap());
  }

  /** Whether this is {@link #BITMAP}. */
  public boolean isBitmap() {
    return id == TypeId.BINARY && !fields.isEmpty();
  }

  public static DataType dictionary(DataType values) {
    return new DataType(TypeId.DICTIONARY, 0, 0, false, List.of(Field.of("value", values)));
  }

  /** Whether this is TINYINT, SMALLINT, INT or BIGINT. */
  public boolean isInteger() {
    return switch (id) {
      case INT8, INT16, INT32, INT64 -> true;
      default -> false;
    };
  }

  /** Whether this is FLOAT or DOUBLE. */
  public boolean isFloatingPoint() {
    return id == TypeId.FLOAT32 || id == TypeId.FLOAT64;
  }

  /** Whether this is a DECIMAL of any precision. */
  public boolean isDecimal() {
    return id == TypeId.DECIMAL32 || id == TypeId.DECIMAL64 || id == TypeId.DECIMAL128;
  }

  /** Whether this is an integer, a floating-point number or a decimal. */
  public boolean isNumeric() {
    return isInteger() || isFloatingPoint() || isDecimal();
  }

  /** Whether this is a TIMESTAMP or TIMESTAMP_LTZ of any precision. */
  public boolean isTimestamp() {
    return id == TypeId.TIMESTAMP_MILLIS
        || id == TypeId.TIMESTAMP_MICROS
        || id == TypeId.TIMESTAMP_NANOS;
  }

  /** The types of a column's children, offsets included, in the order that {@link TypeId} gives. */
  public List<DataType> childTypes() {
    return switch (id) {
      case STRING, BINARY -> List.of(INT32);
      case TIMESTAMP_NANOS -> List.of(INT64, INT32);
      case LIST -> List.of(INT32, fields.get(0).type());
      case STRUCT -> fields.stream().map(Field::type).toList();
      case DICTIONARY -> List.of(fields.get(0).type());
      default -> List.of();
    };
  }

  // The record's own hashCode is much slower until it is compiled, and each constant of a list
  // calls it.
  @Override
  public int hashCode() {
    int hash = 31 * id.hashCode() + precision;
    hash = 31 * hash + scale;
    hash = 31 * hash + Boolean.hashCode(withTimeZone);
    return 31 * hash + fields.hashCode();
  }

  private String mapText() {
    List<Field> entry = fields.get(0).type().fields();
    return "MAP<" + text(entry.get(0)) + ", " + text(entry.get(1)) + ">";
  }

  private static String text(Field field) {
    return field.type() + (field.nullable() ? "" : " NOT NULL");
  }

  /** The type in SQL syntax, if SQL has the type. */
  @Override
  public String toString() {
    return switch (id) {
      case BOOL -> "BOOLEAN";
      case INT8 -> "TINYINT";
      case INT16 -> "SMALLINT";
      case INT32 -> "INT";
      case INT64 -> "BIGINT";
      case FLOAT32 -> "FLOAT";
      case FLOAT64 -> "DOUBLE";
      case DECIMAL32, DECIMAL64, DECIMAL128 -> "DECIMAL(" + precision + ", " + scale + ")";
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS ->
          (withTimeZone ? "TIMESTAMP_LTZ(" : "TIMESTAMP(") + precision + ")";
      case BINARY -> isBitmap() ? "BITMAP" : id.name();
      case LIST -> isMap() ? mapText() : "ARRAY<" + text(fields.get(0)) + ">";
      case STRUCT ->
          fields.stream().map(Field::toString).collect(Collectors.joining(", ", "ROW<", ">"));
      case DICTIONARY -> "DICTIONARY<" + fields.get(0).type() + ">";
      default -> id.name();
    };
  }
}
