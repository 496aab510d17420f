// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

/** How the value of a field is read. The numbers are those of {@code JsonType} in CUDA. */
enum JsonType {
  OBJECT,
  BOOL,
  INTEGER,
  FLOAT,
  DECIMAL,
  DATE,
  TIME,
  TIMESTAMP,
  STRING
}
