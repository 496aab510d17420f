// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

/** What a step reads. The numbers are those of {@code AvroStepKind} in CUDA. */
enum AvroStepKind {
  BOOLEAN(0),
  INT(1),
  LONG(2),
  FLOAT(3),
  DOUBLE(4),
  BYTES(5),
  TEXT(6),
  FIXED(7),
  ENUM(8),
  RECORD(9),
  UNION(10),
  OPTIONAL(11),
  JUMP(12),
  FAIL(13),
  BLOCKS_BEGIN(14),
  BLOCKS_END(15),
  END(16);

  private final int number;

  AvroStepKind(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }
}
