// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;

/**
 * A field of the records, the first one the whole record. The fields of an object are neighbours.
 *
 * @param path names down from the record, with points between
 * @param parent the object around this one
 * @param width bytes of a number, or nanoseconds of the unit of a timestamp, 1 if it has two parts
 * @param string the number of a string field among them
 */
record JsonField(
    String path,
    DataType type,
    JsonName name,
    boolean nullable,
    int parent,
    int firstChild,
    int children,
    JsonType kind,
    int width,
    int string) {

  static final int MICROS_WIDTH = 1000;
  static final int MILLIS_WIDTH = 1_000_000;

  static JsonType kind(DataType type) {
    return switch (type.id()) {
      case STRUCT -> JsonType.OBJECT;
      case BOOL -> JsonType.BOOL;
      case INT8, INT16, INT32, INT64 -> JsonType.INTEGER;
      case FLOAT32, FLOAT64 -> JsonType.FLOAT;
      case DECIMAL32, DECIMAL64, DECIMAL128 -> JsonType.DECIMAL;
      case DATE -> JsonType.DATE;
      case TIME -> JsonType.TIME;
      case TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> JsonType.TIMESTAMP;
      case STRING -> JsonType.STRING;
      case BINARY, LIST, DICTIONARY -> null;
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

  boolean isRequired() {
    return !nullable;
  }

  /** The scale of a decimal; 1 for a timestamp with a time zone. */
  int scaleOrZone() {
    return kind == JsonType.TIMESTAMP ? (type.withTimeZone() ? 1 : 0) : type.scale();
  }

  /** Bytes of an element of the first buffer: values, or positions of strings. */
  int valueBytes() {
    return switch (kind) {
      case OBJECT -> 0;
      case STRING -> Integer.BYTES;
      case TIMESTAMP -> Long.BYTES;
      default -> width;
    };
  }

  /** Whether there is an INT32 per row beside the values. */
  boolean hasSecond() {
    return kind == JsonType.STRING || type.id() == TypeId.TIMESTAMP_NANOS;
  }
}
