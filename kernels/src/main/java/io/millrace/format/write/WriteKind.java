// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

/** What a step writes behind its text. The numbers are those of {@code WriteKind} in CUDA. */
enum WriteKind {
  TEXT(0),
  BOOL(1),
  INTEGER(2),
  FLOAT(3),
  DECIMAL(4),
  DATE(5),
  TIME(6),
  TIMESTAMP(7),
  BASE64(8),
  ESCAPED(9),
  BYTES(10),
  LIST_BEGIN(11),
  LIST_END(12),
  DICTIONARY_BEGIN(13),
  DICTIONARY_END(14),
  FIELD_BEGIN(15),
  FIELD_END(16),
  VARINT(17),
  FIXED(18),
  SIZED(19),
  UNSCALED(20),
  BLOCK_BEGIN(21),
  BLOCK_END(22);

  private final int number;

  WriteKind(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}
