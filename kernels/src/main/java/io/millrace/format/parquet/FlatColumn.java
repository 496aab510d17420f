// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType.Field;
import io.millrace.column.TypeId;

/**
 * A column that is not nested.
 *
 * @param field the column of tables
 * @param type what the pages hold
 * @param isUnsigned whether an INT32 has no sign
 * @param isOptional whether the pages have definition levels
 */
@PublicEvolving
public record FlatColumn(Field field, PhysicalType type, boolean isUnsigned, boolean isOptional) {
  /**
   * @throws IllegalArgumentException if the column cannot hold values of {@code type}
   */
  public FlatColumn {
    if (!holds(field.type().id(), type)) {
      throw new IllegalArgumentException(
          "expected another type than "
              + field.type()
              + " for '"
              + field.name()
              + "', whose pages have "
              + type);
    }
  }

  private static boolean holds(TypeId id, PhysicalType type) {
    return switch (id) {
      case BOOL -> type == PhysicalType.BOOLEAN;
      case STRING, BINARY -> type == PhysicalType.BYTE_ARRAY;
      case FLOAT64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS ->
          type == PhysicalType.INT64;
      case FLOAT32 -> type == PhysicalType.INT32;
      case LIST, STRUCT, DICTIONARY -> false;
      default -> type == PhysicalType.INT32 || type == PhysicalType.INT64;
    };
  }

  boolean hasBytes() {
    return type == PhysicalType.BYTE_ARRAY;
  }

  boolean hasNanos() {
    return field.type().id() == TypeId.TIMESTAMP_NANOS;
  }

  /** Bytes of an element where {@code parquet_values} writes the values. */
  int width() {
    return hasBytes() || hasNanos() ? Long.BYTES : field.type().id().byteWidth();
  }
}
