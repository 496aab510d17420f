// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.annotation.Internal;

/**
 * Why a record is not a row. The numbers are those of {@code RecordError} in record_arguments.cuh.
 */
@Internal
public enum RecordError {
  /** The record is a row. */
  VALID(0),
  /** There is only white space: not a record at all. */
  BLANK(1),
  /** The record is a row whose floating-point numbers the host still has to round. */
  UNDECIDED(2),
  /** The record is not JSON. */
  NO_JSON(3),
  /** A text is not UTF-8. */
  NO_UTF8(4),
  /** The record is another JSON value than an object. */
  NO_OBJECT(5),
  /** There is something behind the object. */
  MORE(6),
  /** A value that is not a field's has more than 1000 values around it. */
  TOO_DEEP(7),
  /** The JSON value of a field does not have the field's type. */
  WRONG_TYPE(8),
  /** The value of a field is out of the range of the field's type, or not a time. */
  INVALID_VALUE(9),
  /** A field is null, but may not be. */
  UNEXPECTED_NULL(10),
  /** A field is missing, but may not be null. */
  MISSING(11),
  /** A field is there twice. */
  DUPLICATE(12),
  /** There is a quote within a field without quotes. */
  STRAY_QUOTE(13),
  /** A quote is not closed. */
  UNCLOSED_QUOTE(14),
  /** There is something between a closing quote and the end of its field. */
  TEXT_BEHIND_QUOTE(15),
  /** An escape character is the last one. */
  UNFINISHED_ESCAPE(16),
  /** The record has too few fields; the word has their number. */
  TOO_FEW_FIELDS(17),
  /** The record has too many fields; the word has the number that it may have. */
  TOO_MANY_FIELDS(18),
  /** The record ends within a value of Avro. */
  TRUNCATED(19),
  /** A variable-length number of Avro has more bytes than its type. */
  INVALID_NUMBER(20),
  /** A length in Avro is below zero. */
  INVALID_LENGTH(21),
  /** The index of a union's branch or an enum's symbol is out of range. */
  INVALID_INDEX(22),
  /** A field's union has a branch that the field's type does not take. */
  OTHER_BRANCH(23),
  /** There are bytes behind the datum of Avro. */
  TRAILING_BYTES(24),
  /** The record does not begin with the id of a schema. */
  NO_SCHEMA_ID(25),
  /** The format has no steps for the record's schema; the word has its id for a position. */
  UNKNOWN_SCHEMA(26);

  private static final RecordError[] ERRORS = values();
  private static final int BYTE_MASK = 0xff;
  private static final int FIELD_MASK = 0xffffff;

  private final int number;

  RecordError(int number) {
    this.number = number;
  }

  /** The number in CUDA. */
  public int number() {
    return number;
  }

  static RecordError ofWord(long word) {
    return ERRORS[(int) word & BYTE_MASK];
  }

  /** The number of the field, or of fields. */
  static int fieldOfWord(long word) {
    return (int) (word >>> Byte.SIZE) & FIELD_MASK;
  }

  static int positionOfWord(long word) {
    return (int) (word >>> Integer.SIZE);
  }

  /** The word that tells an error, the field that it is about, and its position in the record. */
  public long word(int field, int position) {
    return this == VALID ? 0 : number | (long) field << Byte.SIZE | (long) position << Integer.SIZE;
  }
}
