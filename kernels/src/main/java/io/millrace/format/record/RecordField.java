// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;

/**
 * A field of records, the first one the whole record. The fields of an object are neighbours.
 *
 * @param path names down from the record, with points between
 * @param parent the object around this one
 * @param width bytes of a number, or nanoseconds of the unit of a timestamp, 1 if it has two parts
 * @param precision digits of a decimal, or of a time or timestamp behind its second
 * @param string the number of a field of strings, bytes or lists among them
 * @param elements the fields of a list's elements; null if they are only found
 */
@Internal
public record RecordField(
    String path,
    DataType type,
    String name,
    boolean nullable,
    int parent,
    int firstChild,
    int children,
    FieldType kind,
    int width,
    int precision,
    int string,
    RecordFields elements) {

  /** The {@link #precision} of a time with all its milliseconds. */
  static final int TIME_PRECISION = 3;

  /** The {@link #width} of a timestamp in microseconds. */
  static final int MICROS_WIDTH = 1000;

  private static final int MILLIS_WIDTH = 1_000_000;

  static FieldType kind(DataType type) {
    return switch (type.id()) {
      case STRUCT -> FieldType.OBJECT;
      case BOOL -> FieldType.BOOL;
      case INT8, INT16, INT32, INT64 -> FieldType.INTEGER;
      case FLOAT32, FLOAT64 -> FieldType.FLOAT;
      case DECIMAL32, DECIMAL64, DECIMAL128 -> FieldType.DECIMAL;
      case DATE -> FieldType.DATE;
      case TIME -> FieldType.TIME;
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> FieldType.TIMESTAMP;
      case STRING, BINARY -> FieldType.STRING;
      case LIST -> FieldType.LIST;
      case DICTIONARY -> throw new IllegalArgumentException("records are not read into " + type);
    };
  }

  static int width(DataType type) {
    return switch (type.id()) {
      case TIMESTAMP_MILLIS -> MILLIS_WIDTH;
      case TIMESTAMP_MICROS -> MICROS_WIDTH;
      case TIMESTAMP_NANOS -> 1;
      default -> type.id().byteWidth();
    };
  }

  public boolean isRequired() {
    return !nullable;
  }

  /** The scale of a decimal; 1 for a timestamp with a time zone, bytes, and {@link #isObject}. */
  int scaleOrFlag() {
    return type.withTimeZone() || isBinary() || isObject() ? 1 : type.scale();
  }

  /** Whether the field is a list whose only element is written in its place, an object. */
  public boolean isObject() {
    return kind == FieldType.LIST && type.id() == TypeId.STRUCT;
  }

  /** Whether the values are bytes, not strings. */
  public boolean isBinary() {
    return type.id() == TypeId.BINARY;
  }

  /** Whether values have lengths of their own: strings, bytes and lists. */
  boolean hasLengths() {
    return kind == FieldType.STRING || kind == FieldType.LIST;
  }

  /** Bytes of an element of the first buffer: values, or where strings and lists are. */
  int valueBytes() {
    return switch (kind) {
      case OBJECT -> 0;
      case STRING -> Integer.BYTES;
      case LIST, TIMESTAMP -> Long.BYTES;
      default -> width;
    };
  }

  /** Whether there is an INT32 per row beside the values. */
  boolean hasSecond() {
    return hasLengths() || type.id() == TypeId.TIMESTAMP_NANOS;
  }
}
