// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import io.millrace.column.DataType;
import io.millrace.device.HostMemory;
import io.millrace.state.row.Accumulator.Function;
import java.util.List;

/**
 * One value of two words that is kept of the values of a key, such as the largest string: the twin
 * of state_wide.cuh. A third word is 1 if there is a value. The words of a string are a head and a
 * tail, as those of a {@link KeyWord}; of a DECIMAL128 the low and the high word; of a TIMESTAMP
 * with nanoseconds its milliseconds and its nanoseconds.
 *
 * @param first the first word: its data are the bytes of strings, the elements of DECIMAL128, or
 *     the milliseconds; or the first words of other state rows
 * @param second the second word: its data are the offsets of strings, or the nanoseconds; of other
 *     state rows with strings, the address of an INT64 for each chunk of {@link LongStrings}, its
 *     address
 */
@Internal
public record WideValue(AccumulatorValue first, AccumulatorValue second) {
  public static final int STRING = 12;
  static final int DECIMAL = 13;
  static final int TIMESTAMP = 14;

  static final int WORDS = 3;

  /**
   * A value somewhere.
   *
   * @param address of the bytes of a string; of a long string of a state, the number of its first
   *     word
   * @param chunks of a long string of a state the address of the chunk table; 0 of other strings
   */
  private record Element(long first, long second, long address, int length, long chunks) {
    int byteAt(int position) {
      long at = address + position;
      if (chunks != 0) {
        at = LongStrings.wordAddress(chunks, address + position / Long.BYTES);
        at += position % Long.BYTES;
      }
      return Byte.toUnsignedInt(HostMemory.getByte(at));
    }
  }

  /**
   * The words behind the first one.
   *
   * @param type of the value
   * @param source what the second word is read from
   * @param target where the second word is written
   * @param targetType how the second word is written
   */
  public static List<AccumulatorValue> furtherWords(
      DataType type, long source, long target, int targetType) {
    AccumulatorValue second =
        new AccumulatorValue(
            source, 0, 0, target, 0, kind(type), AccumulatorValue.SECOND, targetType);
    return List.of(second, AccumulatorValue.furtherWords(1).get(0));
  }

  /** Whether values of {@code type} have two words. */
  static boolean isSupported(DataType type) {
    return switch (type.id()) {
      case STRING, BINARY, DECIMAL128, TIMESTAMP_NANOS -> true;
      default -> false;
    };
  }

  /** How the words of values of {@code type} are read. */
  public static int kind(DataType type) {
    return switch (type.id()) {
      case DECIMAL128 -> DECIMAL;
      case TIMESTAMP_NANOS -> TIMESTAMP;
      default -> STRING;
    };
  }

  static int operation(Function function, int word) {
    if (word > 0) {
      return word == 1 ? AccumulatorValue.SECOND : AccumulatorValue.FURTHER;
    }
    return switch (function) {
      case MIN -> AccumulatorValue.WIDE_MIN;
      case MAX -> AccumulatorValue.WIDE_MAX;
      case FIRST -> AccumulatorValue.WIDE_FIRST;
      case LISTAGG -> AccumulatorValue.WIDE_LIST;
      default -> AccumulatorValue.WIDE_LAST;
    };
  }

  public boolean isString() {
    return second.type() == STRING;
  }

  /** Whether it is a string that grows by those of further rows. */
  public boolean isList() {
    return first.operation() == AccumulatorValue.WIDE_LIST;
  }

  private boolean isStored() {
    return first.type() == AccumulatorValue.STATE;
  }

  /** Whether a row has no value. */
  public boolean isNull(long row) {
    return isStored() ? !isSet(rowAddress(row)) : first.isNull(row);
  }

  /** Whether a state row has a value, by the address of its words. */
  public static boolean isSet(long words) {
    return HostMemory.getLong(words + 2 * Long.BYTES) != 0;
  }

  /**
   * Whether the value of a row is kept rather than that of a row before it.
   *
   * @param other a row before it, with a value
   */
  public boolean replaces(long row, long other) {
    return replaces(of(row), of(other));
  }

  /**
   * Whether the value of a row is kept rather than that in a state row, and differs from it.
   *
   * @param words address of the words of the state row
   * @param chunks address of the chunk table of its long strings
   */
  public boolean replacesStored(long row, long words, long chunks) {
    if (!isSet(words)) {
      return true;
    }
    Element stored = stored(words, chunks);
    Element element = of(row);
    return replaces(element, stored) && compare(element, stored) != 0;
  }

  private boolean replaces(Element element, Element before) {
    return switch (first.operation()) {
      case AccumulatorValue.WIDE_MIN -> compare(element, before) < 0;
      case AccumulatorValue.WIDE_MAX -> compare(element, before) > 0;
      case AccumulatorValue.WIDE_FIRST -> false;
      default -> true;
    };
  }

  /** Writes the words of a row's value, without the place of a long string. */
  public void put(long row, long words) {
    Element element = of(row);
    HostMemory.putLong(words, element.first);
    HostMemory.putLong(words + Long.BYTES, element.second);
    HostMemory.putLong(words + 2 * Long.BYTES, 1);
  }

  /** The length of a row's string. */
  public int length(long row) {
    return of(row).length;
  }

  /** The address of the bytes of a row's string; of a long one of a state, its first word. */
  public long source(long row) {
    return of(row).address;
  }

  /** The address of the chunk table with a row's long string; 0 if it is in a column. */
  public long sourceChunks(long row) {
    return of(row).chunks;
  }

  private long rowAddress(long row) {
    return first.data() + row * first.stride();
  }

  private Element of(long row) {
    long address = rowAddress(row);
    if (isStored()) {
      Element stored = stored(address, second.data());
      return stored.chunks == 0
          ? stored
          : new Element(stored.first, 0, stored.address, stored.length, stored.chunks);
    }
    return switch (second.type()) {
      case STRING -> string(row);
      case DECIMAL ->
          new Element(
              HostMemory.getLong(address), HostMemory.getLong(address + Long.BYTES), 0, 0, 0);
      default -> {
        int nanos = HostMemory.getInt(second.data() + row * Integer.BYTES);
        yield new Element(HostMemory.getLong(address), nanos, 0, 0, 0);
      }
    };
  }

  private Element string(long row) {
    int begin = HostMemory.getInt(second.data() + row * Integer.BYTES);
    int length = HostMemory.getInt(second.data() + (row + 1) * Integer.BYTES) - begin;
    long address = first.data() + begin;
    KeyWord word =
        new KeyWord(
            first.data(),
            second.data(),
            0,
            0,
            0,
            0,
            0,
            0,
            KeyWord.STRING_HEAD,
            KeyWord.NO_NULL_BIT);
    long head = word.word(row);
    long tail = word.string(first.data(), second.data(), 0, KeyWord.STRING_TAIL).word(row);
    return new Element(head, tail, address, length, 0);
  }

  private Element stored(long words, long chunks) {
    long head = HostMemory.getLong(words);
    long tail = HostMemory.getLong(words + Long.BYTES);
    if (!isString()) {
      return new Element(head, tail, 0, 0, 0);
    }
    int length = (int) head;
    return LongStrings.words(length) > 0
        ? new Element(head, tail, tail, length, chunks)
        : new Element(head, tail, words + Integer.BYTES, length, 0);
  }

  private int compare(Element left, Element right) {
    return switch (second.type()) {
      case STRING -> compareStrings(left, right);
      case DECIMAL ->
          left.second == right.second
              ? Long.compareUnsigned(left.first, right.first)
              : Long.compare(left.second, right.second);
      default ->
          left.first == right.first
              ? Long.compare(left.second, right.second)
              : Long.compare(left.first, right.first);
    };
  }

  private static int compareStrings(Element left, Element right) {
    int common = Math.min(left.length, right.length);
    for (int i = 0; i < common; i++) {
      int order = Integer.compare(left.byteAt(i), right.byteAt(i));
      if (order != 0) {
        return order;
      }
    }
    return Integer.compare(left.length, right.length);
  }
}
