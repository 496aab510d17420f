// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;

/** The kinds of column, with the bytes one element has in the data buffer. */
@PublicEvolving
public enum TypeId {
  /** 1 byte an element: 0 or 1. */
  BOOL(1),
  INT8(1),
  INT16(2),
  INT32(4),
  INT64(8),
  FLOAT32(4),
  FLOAT64(8),
  /** Unscaled value as int32; precision up to 9. */
  DECIMAL32(4),
  /** Unscaled value as int64; precision up to 18. */
  DECIMAL64(8),
  /** Unscaled value as two's complement of 128 bits, low word first; precision up to 38. */
  DECIMAL128(16),
  /** Days since 1970-01-01 as int32. */
  DATE(4),
  /** Milliseconds of the day as int32. */
  TIME(4),
  /** Milliseconds since 1970-01-01T00:00 as int64; precision 0 to 3. */
  TIMESTAMP_MILLIS(8),
  /** Microseconds since 1970-01-01T00:00 as int64; precision 4 to 6. */
  TIMESTAMP_MICROS(8),
  /**
   * No data; children: INT64 milliseconds and INT32 nanoseconds of the millisecond; precision 7 to
   * 9.
   */
  TIMESTAMP_NANOS(0),
  /** UTF-8 bytes in the data buffer; child: INT32 offsets, one more than elements. */
  STRING(0),
  /** Bytes in the data buffer; child: INT32 offsets, one more than elements. */
  BINARY(0),
  /** No data; children: INT32 offsets, one more than elements, and the elements of the lists. */
  LIST(0),
  /** No data; one child a field. */
  STRUCT(0),
  /** INT32 codes in the data buffer; child: the dictionary's values. */
  DICTIONARY(4);

  private final int byteWidth;

  TypeId(int byteWidth) {
    this.byteWidth = byteWidth;
  }

  /** Bytes of one element in the data buffer; 0 where elements have no fixed place there. */
  public int byteWidth() {
    return byteWidth;
  }

  /** Whether the elements are values of fixed width in the data buffer. */
  public boolean isFixedWidth() {
    return byteWidth > 0;
  }

  /** Whether the elements are runs of bytes in the data buffer. */
  public boolean isVariableWidth() {
    return this == STRING || this == BINARY;
  }

  /** Whether an element is a value by itself: no list or struct, and no index of a dictionary. */
  public boolean isScalar() {
    return this != LIST && this != STRUCT && this != DICTIONARY;
  }
}
