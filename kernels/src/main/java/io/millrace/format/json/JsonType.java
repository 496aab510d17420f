// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

/** How the value of a field is read. The numbers are those of {@code JsonType} in CUDA. */
enum JsonType {
  OBJECT(0),
  BOOL(1),
  INTEGER(2),
  FLOAT(3),
  DECIMAL(4),
  DATE(5),
  TIME(6),
  TIMESTAMP(7),
  STRING(8);

  private final int number;

  JsonType(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}
