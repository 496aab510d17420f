// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.hash;

import io.millrace.annotation.Internal;
import io.millrace.column.ColumnReader;
import io.millrace.column.TypeId;

/**
 * A key column or struct level for a chunk of rows: its elements as longs, and its nulls. One loop
 * per type fills it, so that hash functions are loops over arrays.
 */
@Internal
public final class KeyVector {
  /** Rows of a chunk at most. */
  public static final int CAPACITY = 1024;

  private final ColumnReader reader;
  private final KeyVector parent;
  private final long[] values;
  private final long[] seconds;
  private final boolean[] nulls;
  private boolean hasNulls;

  /**
   * @param parent the struct level that the column is in, null if it is in none
   */
  KeyVector(ColumnReader reader, KeyVector parent, int capacity) {
    this.reader = reader;
    this.parent = parent;
    TypeId id = reader.type().id();
    this.values = id == TypeId.STRUCT ? null : new long[capacity];
    boolean isTwoPart =
        id.isVariableWidth() || id == TypeId.DECIMAL128 || id == TypeId.TIMESTAMP_NANOS;
    this.seconds = isTwoPart ? new long[capacity] : null;
    this.nulls = reader.isNullable() || parent != null ? new boolean[capacity] : null;
  }

  TypeId id() {
    return reader.type().id();
  }

  int precision() {
    return reader.type().precision();
  }

  int scale() {
    return reader.type().scale();
  }

  boolean isInstant() {
    return reader.type().withTimeZone();
  }

  /**
   * By row of the chunk: integers sign-extended, BOOL as 0 and 1, floating-point values as their
   * bits; low words of DECIMAL128, milliseconds of TIMESTAMP(7..9), addresses of bytes.
   */
  long[] values() {
    return values;
  }

  /** High words of DECIMAL128, nanoseconds of the millisecond of TIMESTAMP(7..9), byte counts. */
  long[] seconds() {
    return seconds;
  }

  boolean hasNulls() {
    return hasNulls;
  }

  /**
   * Whether the row, or a struct that it is in, is null; the values of such a row are undefined.
   */
  boolean isNull(int row) {
    return hasNulls && nulls[row];
  }

  /** Puts {@code value} where the column is null. */
  void replaceNulls(int[] hashes, int count, int value) {
    if (hasNulls) {
      for (int i = 0; i < count; i++) {
        hashes[i] = nulls[i] ? value : hashes[i];
      }
    }
  }

  /** Reads {@code count} rows from {@code first} on; the parent has read them before. */
  void load(int first, int count) {
    loadNulls(first, count);
    switch (id()) {
      case BOOL -> {
        for (int i = 0; i < count; i++) {
          values[i] = reader.getBoolean(first + i) ? 1 : 0;
        }
      }
      case INT8 -> {
        for (int i = 0; i < count; i++) {
          values[i] = reader.getByte(first + i);
        }
      }
      case INT16 -> {
        for (int i = 0; i < count; i++) {
          values[i] = reader.getShort(first + i);
        }
      }
      case INT32, DATE, TIME, DECIMAL32, FLOAT32 -> {
        for (int i = 0; i < count; i++) {
          values[i] = reader.getInt(first + i);
        }
      }
      case INT64, FLOAT64, DECIMAL64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS -> {
        for (int i = 0; i < count; i++) {
          values[i] = reader.getLong(first + i);
        }
      }
      default -> loadTwoParts(first, count);
    }
  }

  private void loadTwoParts(int first, int count) {
    switch (id()) {
      case DECIMAL128 -> {
        for (int i = 0; i < count; i++) {
          values[i] = reader.getDecimal128Low(first + i);
          seconds[i] = reader.getDecimal128High(first + i);
        }
      }
      case TIMESTAMP_NANOS -> {
        for (int i = 0; i < count; i++) {
          values[i] = reader.getTimestampMillis(first + i);
          seconds[i] = reader.getTimestampNanosOfMilli(first + i);
        }
      }
      case STRING, BINARY -> loadBytes(first, count);
      case STRUCT -> {
        // Only its nulls count.
      }
      default -> throw new IllegalArgumentException(reader.type() + " cannot be hashed");
    }
  }

  private void loadBytes(int first, int count) {
    int begin = reader.getOffset(first);
    long bytes = reader.getBytesAddress(first) - begin;
    for (int i = 0; i < count; i++) {
      int end = reader.getOffset(first + i + 1);
      values[i] = bytes + begin;
      seconds[i] = (long) end - begin;
      begin = end;
    }
  }

  private void loadNulls(int first, int count) {
    if (nulls == null) {
      return;
    }
    hasNulls = false;
    for (int i = 0; i < count; i++) {
      boolean isNull = reader.isNull(first + i);
      nulls[i] = isNull;
      hasNulls |= isNull;
    }
    if (parent != null && parent.hasNulls) {
      for (int i = 0; i < count; i++) {
        nulls[i] |= parent.nulls[i];
      }
      hasNulls = true;
    }
  }
}
