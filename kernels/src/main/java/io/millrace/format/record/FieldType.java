// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.Internal;

/** How the value of a field is read. The numbers are those of {@code FieldType} in CUDA. */
@Internal
public enum FieldType {
  OBJECT(0),
  BOOL(1),
  INTEGER(2),
  FLOAT(3),
  DECIMAL(4),
  DATE(5),
  TIME(6),
  TIMESTAMP(7),
  STRING(8),
  LIST(9);

  private final int number;

  FieldType(int number) {
    this.number = number;
  }

  /** The number in CUDA. */
  int number() {
    return number;
  }
}
