// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;
import java.util.ArrayList;
import java.util.List;

/**
 * A word of the key, read from a column, with addresses on the device. A null is zero in its word,
 * and a bit in the null word behind all key words. All NaN are one key; 0.0 and -0.0 are two, as in
 * Flink. The constants are those of state_arguments.cuh.
 *
 * <p>A string has two words, the head and behind it the tail. The head holds the length in its low
 * half, and the first 4 bytes. The tail holds bytes 4 to 11 of a string of up to 12 bytes; of a
 * longer one, the number of its first word among the words of {@link LongStrings}.
 *
 * @param data address of the first element; element {@code i} is {@code i * stride} bytes behind.
 *     Of strings, the address that their offsets count from
 * @param offsets address of the offset of the first string; of {@link #STORED_TAIL} that of an
 *     INT64 for each chunk of {@link LongStrings}, its address; 0 for other types
 * @param validity address of the column's mask, 0 if it has none; element {@code i} is bit {@code
 *     rowOffset + i}
 * @param output address of the column of the result, with the same stride; of {@link #STRING_HEAD}
 *     that of an INT32 per row of the result, the row of the batch that has its string; 0 if
 *     nothing is written
 * @param outputValidity address of that column's mask, zero at first; 0 if it has none
 * @param width bytes of an element: 1, 2, 4 or 8
 * @param nullBit the bit of the null word; {@link #NO_NULL_BIT} if the word is never null
 */
@Internal
public record KeyWord(
    long data,
    long offsets,
    long validity,
    long rowOffset,
    long output,
    long outputValidity,
    int stride,
    int width,
    int type,
    int nullBit) {
  public static final int BITS = 0;
  public static final int FLOAT32 = 1;
  public static final int FLOAT64 = 2;
  public static final int STRING_HEAD = 3;
  public static final int STRING_TAIL = 4;

  /** The tail in a row of another state table, whose head is the word before. */
  public static final int STORED_TAIL = 5;

  static final int INLINE_BYTES = 12;
  private static final int PREFIX_BYTES = 4;
  public static final int NO_NULL_BIT = -1;

  /**
   * The words of the keys of state rows, one behind the other; a null word is a word like the
   * others.
   *
   * @param address of the first row
   * @param strings address of an INT64 for each chunk of their {@link LongStrings}, its address
   */
  public static List<KeyWord> ofRows(StateSchema schema, long address, long strings) {
    List<KeyWord> words = new ArrayList<>();
    for (int i = 0; i < schema.firstAccumulator(); i++) {
      long data = address + (long) i * Long.BYTES;
      int type = schema.tails().contains(i) ? STORED_TAIL : BITS;
      words.add(
          new KeyWord(data, strings, 0, 0, 0, 0, schema.rowBytes(), Long.BYTES, type, NO_NULL_BIT));
    }
    return words;
  }

  /** This word for elements of fixed width. */
  public KeyWord fixed(
      long elements, long target, int elementStride, int elementWidth, int wordType) {
    return new KeyWord(
        elements,
        0,
        validity,
        rowOffset,
        target,
        outputValidity,
        elementStride,
        elementWidth,
        wordType,
        nullBit);
  }

  /** This word for strings; rows of the result are INT32. */
  public KeyWord string(long bytes, long firstOffset, long target, int wordType) {
    return new KeyWord(
        bytes,
        firstOffset,
        validity,
        rowOffset,
        target,
        outputValidity,
        Integer.BYTES,
        Integer.BYTES,
        wordType,
        nullBit);
  }

  public boolean isNull(long row) {
    return validity != 0 && !HostMemory.getBit(validity, rowOffset + row);
  }

  public boolean isTail() {
    return type >= STRING_TAIL;
  }

  /** The word of a row's key; 0 for the tail of a long string. */
  public long word(long row) {
    if (isNull(row)) {
      return 0;
    }
    long address = data + row * stride;
    return switch (type) {
      case FLOAT32 -> Integer.toUnsignedLong(Float.floatToIntBits(HostMemory.getFloat(address)));
      case FLOAT64 -> Double.doubleToLongBits(HostMemory.getDouble(address));
      case STRING_HEAD ->
          Integer.toUnsignedLong(length(row)) | bytes(row, 0, PREFIX_BYTES) << Integer.SIZE;
      case STRING_TAIL -> stringWords(row) > 0 ? 0 : bytes(row, PREFIX_BYTES, Long.BYTES);
      case STORED_TAIL -> stringWords(row) > 0 ? 0 : HostMemory.getLong(address);
      default -> bits(address);
    };
  }

  private long bits(long address) {
    return switch (width) {
      case Byte.BYTES -> Byte.toUnsignedLong(HostMemory.getByte(address));
      case Short.BYTES -> Short.toUnsignedLong(HostMemory.getShort(address));
      case Integer.BYTES -> Integer.toUnsignedLong(HostMemory.getInt(address));
      default -> HostMemory.getLong(address);
    };
  }

  /** Bytes of the string of a tail or head; 0 of a null. */
  private int length(long row) {
    if (isNull(row)) {
      return 0;
    }
    if (type == STORED_TAIL) {
      return (int) HostMemory.getLong(data + row * stride - Long.BYTES);
    }
    return offset(row + 1) - offset(row);
  }

  private int offset(long row) {
    return HostMemory.getInt(offsets + row * Integer.BYTES);
  }

  /** The words that a tail's string takes among the long strings; 0 of a short one. */
  public int stringWords(long row) {
    return LongStrings.words(length(row));
  }

  /** A word of a tail's string, which is long; zeros behind its bytes. */
  public long stringWord(long row, int number) {
    if (type == STORED_TAIL) {
      long first = HostMemory.getLong(data + row * stride);
      return HostMemory.getLong(LongStrings.wordAddress(offsets, first + number));
    }
    return bytes(row, number * Long.BYTES, Long.BYTES);
  }

  // Bytes of a string in a column, the first one lowest, with zeros above.
  private long bytes(long row, int begin, int most) {
    long address = data + offset(row) + begin;
    int count = Math.min(length(row) - begin, most);
    if (count == Long.BYTES) {
      return HostMemory.getLong(address);
    }
    if (count == Integer.BYTES) {
      return Integer.toUnsignedLong(HostMemory.getInt(address));
    }
    long word = 0;
    for (int i = 0; i < count; i++) {
      word |= Byte.toUnsignedLong(HostMemory.getByte(address + i)) << (i * Byte.SIZE);
    }
    return word;
  }

  /**
   * Writes the element of a row, as it is in its column, as an element of the result; of a string,
   * its row.
   */
  public void putOutput(long row, long position) {
    if (isTail()) {
      return;
    }
    long bits = type == STRING_HEAD ? row : bits(data + row * stride);
    long address = output + position * stride;
    switch (width) {
      case Byte.BYTES -> HostMemory.putByte(address, (byte) bits);
      case Short.BYTES -> HostMemory.putShort(address, (short) bits);
      case Integer.BYTES -> HostMemory.putInt(address, (int) bits);
      default -> HostMemory.putLong(address, bits);
    }
    if (outputValidity != 0 && !isNull(row)) {
      HostMemory.putBit(outputValidity, position, true);
    }
  }
}
