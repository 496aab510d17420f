// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.avro;

import io.millrace.format.record.RecordError;
import io.millrace.format.text.TextCursor;

/**
 * Reads the numbers of Avro's binary encoding in a record. A method that returns false has noted
 * the error. Used by one thread.
 */
final class AvroCursor {
  private static final int MAX_INT_BYTES = 5;
  private static final int MAX_LONG_BYTES = 10;
  private static final int LOW_BITS = 0x7f;
  private static final int ID_BYTES = 1 + Integer.BYTES;

  final TextCursor text = new TextCursor();
  private int end;
  private RecordError error;
  private int field;
  private long bits;
  private long integer;
  private int schemaId;
  // The id of a schema in place of a position.
  private boolean isSchemaUnknown;
  private int start;

  /** Begins a record. */
  void reset(long address, int newStart, int newEnd) {
    text.reset(address, newStart, newEnd);
    start = newStart;
    end = newEnd;
    error = RecordError.VALID;
    field = 0;
    isSchemaUnknown = false;
  }

  RecordError error() {
    return error;
  }

  /** The field that the error is about. */
  int field() {
    return field;
  }

  /** The position of the error; the start of the record and the schema's id if that is unknown. */
  int position() {
    return isSchemaUnknown ? start + schemaId : Math.min(text.at(), end);
  }

  boolean fail(RecordError why) {
    error = why;
    return false;
  }

  boolean fail(int newField, RecordError why) {
    field = newField;
    return fail(why);
  }

  boolean isAtEnd() {
    return text.at() == end;
  }

  /** Bytes that are left. */
  int left() {
    return end - text.at();
  }

  /** Up to eight bytes that were read, the first one lowest. */
  long bits() {
    return bits;
  }

  /** The number that was read. */
  long integer() {
    return integer;
  }

  /** The id of the record's schema. */
  int schemaId() {
    return schemaId;
  }

  /** Reads a zero and the id of a schema. */
  boolean readSchemaId() {
    if (left() < ID_BYTES || text.peek() != 0) {
      return fail(RecordError.NO_SCHEMA_ID);
    }
    schemaId = Integer.reverseBytes((int) (text.word(text.at()) >>> Byte.SIZE));
    skip(ID_BYTES);
    return true;
  }

  boolean failSchema() {
    isSchemaUnknown = true;
    return fail(RecordError.UNKNOWN_SCHEMA);
  }

  // Bits beyond 64 are dropped, as in Avro's library.
  private boolean readVarint(int maxBytes) {
    bits = 0;
    for (int i = 0; i < maxBytes; i++) {
      int next = text.peek();
      if (next == TextCursor.END_OF_TEXT) {
        return fail(RecordError.TRUNCATED);
      }
      text.next();
      bits |= (next & (long) LOW_BITS) << ((Byte.SIZE - 1) * i);
      if (next <= LOW_BITS) {
        return true;
      }
    }
    return fail(RecordError.INVALID_NUMBER);
  }

  boolean readInt() {
    if (!readVarint(MAX_INT_BYTES)) {
      return false;
    }
    int low = (int) bits;
    int value = (low >>> 1) ^ -(low & 1);
    integer = value;
    return true;
  }

  boolean readLong() {
    if (!readVarint(MAX_LONG_BYTES)) {
      return false;
    }
    integer = (bits >>> 1) ^ -(bits & 1);
    return true;
  }

  /** Reads the number of a branch or a symbol, which is below {@code count}. */
  boolean readIndex(int count) {
    return readInt() && ((integer >= 0 && integer < count) || fail(RecordError.INVALID_INDEX));
  }

  /** Reads up to eight bytes. */
  boolean readFixed(int bytes) {
    if (left() < bytes) {
      return fail(RecordError.TRUNCATED);
    }
    bits = text.word(text.at()) & -1L >>> (Long.SIZE - bytes * Byte.SIZE);
    skip(bytes);
    return true;
  }

  /** Goes behind bytes that the record has. */
  void skip(int bytes) {
    text.moveTo(text.at() + bytes);
  }

  /** Checks a number of bytes that the record should have. */
  boolean hasBytes(long bytes) {
    if (bytes < 0) {
      return fail(RecordError.INVALID_LENGTH);
    }
    return bytes <= left() || fail(RecordError.TRUNCATED);
  }

  /** Goes behind the value of a step without a field. */
  boolean skip(AvroStep step) {
    boolean hasLength =
        switch (step.kind) {
          case INT -> readInt();
          case LONG -> readLong();
          case FIXED -> hasBytes(step.size);
          default -> readLong() && hasBytes(integer);
        };
    if (hasLength) {
      switch (step.kind) {
        case INT, LONG -> {}
        case FIXED -> skip(step.size);
        default -> skip((int) integer);
      }
    }
    return hasLength;
  }

  /**
   * Reads the number of elements of a block; 0 behind the last block. Elements without bytes are
   * passed by.
   *
   * @param isCounted whether the elements of blocks that tell how many bytes they have count, too;
   *     else such blocks are passed by
   */
  boolean readBlock(boolean isCounted, boolean elementsHaveBytes) {
    for (; ; ) {
      if (!readLong()) {
        return false;
      }
      if (integer == 0 || (integer > 0 && elementsHaveBytes)) {
        return true;
      }
      if (integer > 0) {
        continue;
      }
      long elements = -integer;
      if (!readLong()) {
        return false;
      }
      if (isCounted) {
        integer = elements;
        return elements > 0 || fail(RecordError.INVALID_LENGTH);
      }
      if (!hasBytes(integer)) {
        return false;
      }
      skip((int) integer);
    }
  }
}
