// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.annotation.PublicEvolving;

/** What pages hold. The numbers are those of {@code PhysicalType} in CUDA. */
@PublicEvolving
public enum PhysicalType {
  BOOLEAN(0, 0),
  /** Also FLOAT, which has the same bits. */
  INT32(1, Integer.BYTES),
  /** Also DOUBLE, which has the same bits. */
  INT64(2, Long.BYTES),
  BYTE_ARRAY(3, 0);

  private final int number;
  private final int byteWidth;

  PhysicalType(int number, int byteWidth) {
    this.number = number;
    this.byteWidth = byteWidth;
  }

  int number() {
    return number;
  }

  /** Bytes of a value in a page with PLAIN encoding; 0 if it has no such number. */
  int byteWidth() {
    return byteWidth;
  }
}
