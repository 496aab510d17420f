// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.expression.error.ExpressionException;

/** Representation of a value during evaluation. */
@Internal
public enum ValueKind {
  /** A predicate register; 0 or 1 in a long on the host. */
  BOOL,
  /** INT8 to INT32, DATE, TIME and DECIMAL(1..9): 32 bits, sign-extended. */
  INT,
  /** INT64, TIMESTAMP(0..6), DECIMAL(10..18). */
  LONG,
  FLOAT,
  DOUBLE,
  /** DECIMAL(19..38): low and high word. */
  DECIMAL128,
  /** TIMESTAMP(7..9): milliseconds, and nanoseconds of the millisecond. */
  TIMESTAMP_NANOS,
  /** STRING and BINARY: address and length. */
  BYTES,
  /** STRUCT: its fields are values of their own. Kernels know only whether it is null. */
  STRUCT,
  /** LIST: position of the first element, and length. Kernels know only whether it is null. */
  LIST;

  /**
   * The kind of a type's values.
   *
   * @throws ExpressionException for DICTIONARY, which expressions do not support
   */
  public static ValueKind of(DataType type) {
    return switch (type.id()) {
      case BOOL -> BOOL;
      case INT8, INT16, INT32, DATE, TIME, DECIMAL32 -> INT;
      case INT64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, DECIMAL64 -> LONG;
      case FLOAT32 -> FLOAT;
      case FLOAT64 -> DOUBLE;
      case DECIMAL128 -> DECIMAL128;
      case TIMESTAMP_NANOS -> TIMESTAMP_NANOS;
      case STRING, BINARY -> BYTES;
      case STRUCT -> STRUCT;
      case LIST -> LIST;
      case DICTIONARY -> throw new ExpressionException("no expression takes a value of " + type);
    };
  }

  /** Whether a type is DATE, TIME or TIMESTAMP. */
  public static boolean isTemporal(DataType type) {
    return type.id() == TypeId.DATE || type.id() == TypeId.TIME || type.isTimestamp();
  }

  /** Whether a value has two parts. */
  public boolean isTwoPart() {
    return this == DECIMAL128 || this == TIMESTAMP_NANOS || this == BYTES || this == LIST;
  }

  /** Whether host vectors store the values as doubles. */
  public boolean isFloating() {
    return this == FLOAT || this == DOUBLE;
  }
}
