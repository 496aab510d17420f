// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import io.millrace.annotation.PublicEvolving;

/** Why a record is no row. The numbers are those of {@code JsonError} in json_arguments.cuh. */
@PublicEvolving
public enum JsonError {
  /** The record is a row. */
  VALID,
  /** There is only white space: no record at all. */
  BLANK,
  /** The record is a row whose floating-point numbers the host still has to round. */
  UNDECIDED,
  /** The record is no JSON. */
  MALFORMED,
  /** A string is no UTF-8. */
  NO_UTF8,
  /** The record is another JSON value than an object. */
  NO_OBJECT,
  /** There is something behind the object. */
  MORE,
  /** A value that is no field has more than 1000 values around it. */
  TOO_DEEP,
  /** The JSON value of a field is none of the field's type. */
  WRONG_TYPE,
  /** The value of a field is out of the range of the field's type, or no time. */
  INVALID_VALUE,
  /** A field is null, but may not be. */
  UNEXPECTED_NULL,
  /** A field is missing, but may not be null. */
  MISSING,
  /** A field is there twice. */
  DUPLICATE;

  private static final JsonError[] ERRORS = values();
  private static final int BYTE_MASK = 0xff;
  private static final int FIELD_MASK = 0xffffff;

  static JsonError ofWord(long word) {
    return ERRORS[(int) word & BYTE_MASK];
  }

  static int fieldOfWord(long word) {
    return (int) (word >>> Byte.SIZE) & FIELD_MASK;
  }

  static int positionOfWord(long word) {
    return (int) (word >>> Integer.SIZE);
  }

  /** The word that tells an error, the field that it is about, and its position in the record. */
  long word(int field, int position) {
    return this == VALID
        ? 0
        : ordinal() | (long) field << Byte.SIZE | (long) position << Integer.SIZE;
  }
}
