// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.hash;

import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;

/**
 * The {@code hashCode()} of the objects that represent the key columns in Flink's external rows, or
 * of Flink's tuple of the objects if there are several.
 */
final class JavaHash implements ChunkHash {
  private static final long MILLIS_PER_SECOND = 1_000;
  private static final long MILLIS_PER_DAY = 86_400_000;
  private static final long MICROS_PER_MILLI = 1_000;
  private static final int NANOS_PER_MICRO = 1_000;
  private static final int NANOS_PER_MILLI = 1_000_000;
  private static final int DAYS_FROM_0000_03_01_TO_1970_01_01 = 719_468;
  private static final int DAYS_PER_400_YEARS = 146_097;

  private static final long NOT_ASCII = 0x8080808080808080L;
  private static final int[] POWERS_OF_31 = new int[Long.BYTES + 1];

  static {
    POWERS_OF_31[0] = 1;
    for (int i = 1; i < POWERS_OF_31.length; i++) {
      POWERS_OF_31[i] = 31 * POWERS_OF_31[i - 1];
    }
  }

  private final int[] elements;

  JavaHash(int capacity) {
    this.elements = new int[capacity];
  }

  @Override
  public void hash(KeyVector[] columns, int count, int[] hashes) {
    for (int c = 0; c < columns.length; c++) {
      int[] target = c == 0 ? hashes : elements;
      hash(columns[c], count, target);
      columns[c].replaceNulls(target, count, 0);
      for (int i = 0; c > 0 && i < count; i++) {
        hashes[i] = 31 * hashes[i] + elements[i];
      }
    }
  }

  private static void hash(KeyVector column, int count, int[] hashes) {
    long[] values = column.values();
    switch (column.id()) {
      case BOOL -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = Boolean.hashCode(values[i] != 0);
        }
      }
      case INT8, INT16, INT32 -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = (int) values[i];
        }
      }
      case INT64 -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = Long.hashCode(values[i]);
        }
      }
      case FLOAT32 -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = Float.hashCode(Float.intBitsToFloat((int) values[i]));
        }
      }
      case FLOAT64 -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = Double.hashCode(Double.longBitsToDouble(values[i]));
        }
      }
      case STRING, BINARY -> hashBytes(column, count, hashes);
      case DECIMAL32, DECIMAL64, DECIMAL128 -> hashDecimals(column, count, hashes);
      default -> hashTimes(column, count, hashes);
    }
  }

  private static void hashTimes(KeyVector column, int count, int[] hashes) {
    long[] values = column.values();
    switch (column.id()) {
      case DATE -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = ofDate((int) values[i]);
        }
      }
      case TIME -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = Long.hashCode(values[i] * NANOS_PER_MILLI);
        }
      }
      case TIMESTAMP_MILLIS -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = ofTimestamp(column.isInstant(), values[i], 0);
        }
      }
      case TIMESTAMP_MICROS -> {
        for (int i = 0; i < count; i++) {
          long millis = Math.floorDiv(values[i], MICROS_PER_MILLI);
          int micros = (int) (values[i] - millis * MICROS_PER_MILLI);
          hashes[i] = ofTimestamp(column.isInstant(), millis, micros * NANOS_PER_MICRO);
        }
      }
      case TIMESTAMP_NANOS -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = ofTimestamp(column.isInstant(), values[i], (int) column.seconds()[i]);
        }
      }
      default -> throw new IllegalArgumentException(column.id() + " has no Java hash");
    }
  }

  /** {@code LocalDate.ofEpochDay(day).hashCode()}, by way of years that begin in March. */
  private static int ofDate(int day) {
    long shifted = (long) day + DAYS_FROM_0000_03_01_TO_1970_01_01;
    int cycle = (int) Math.floorDiv(shifted, DAYS_PER_400_YEARS);
    int dayOfCycle = (int) (shifted - (long) cycle * DAYS_PER_400_YEARS);
    int yearOfCycle =
        (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365;
    int dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100);
    int monthFromMarch = (5 * dayOfYear + 2) / 153;
    int dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1;
    int month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
    int year = cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0);
    return (year & 0xfffff800) ^ ((year << 11) + (month << 6) + dayOfMonth);
  }

  // An Instant's, or a LocalDateTime's with the day cut to an int as Flink cuts it.
  private static int ofTimestamp(boolean isInstant, long millis, int nanosOfMilli) {
    if (isInstant) {
      long second = Math.floorDiv(millis, MILLIS_PER_SECOND);
      int millisOfSecond = (int) (millis - second * MILLIS_PER_SECOND);
      return Long.hashCode(second) + 51 * (millisOfSecond * NANOS_PER_MILLI + nanosOfMilli);
    }
    long day = Math.floorDiv(millis, MILLIS_PER_DAY);
    long nanosOfDay = (millis - day * MILLIS_PER_DAY) * NANOS_PER_MILLI + nanosOfMilli;
    return ofDate((int) day) ^ Long.hashCode(nanosOfDay);
  }

  private static void hashDecimals(KeyVector column, int count, int[] hashes) {
    long[] low = column.values();
    long[] high = column.seconds();
    for (int i = 0; i < count; i++) {
      hashes[i] = 31 * ofInteger(low[i], high == null ? low[i] >> 63 : high[i]) + column.scale();
    }
  }

  /** {@code BigInteger.hashCode()}: over the 32-bit words of the magnitude, with the sign. */
  private static int ofInteger(long low, long high) {
    boolean isNegative = high < 0;
    long magnitudeLow = isNegative ? -low : low;
    long magnitudeHigh = isNegative ? ~high + (low == 0 ? 1 : 0) : high;
    int hash = (int) (magnitudeHigh >>> 32);
    hash = 31 * hash + (int) magnitudeHigh;
    hash = 31 * hash + (int) (magnitudeLow >>> 32);
    hash = 31 * hash + (int) magnitudeLow;
    return isNegative ? -hash : hash;
  }

  private static void hashBytes(KeyVector column, int count, int[] hashes) {
    boolean isText = column.id() == TypeId.STRING;
    for (int i = 0; i < count; i++) {
      if (!column.isNull(i)) {
        long address = column.values()[i];
        int length = (int) column.seconds()[i];
        hashes[i] = isText ? ofText(address, length) : ofBytes(address, length);
      }
    }
  }

  /** {@code Arrays.hashCode(byte[])}. */
  private static int ofBytes(long address, int length) {
    int hash = 1;
    for (int i = 0; i < length; i++) {
      hash = 31 * hash + HostMemory.getByte(address + i);
    }
    return hash;
  }

  // String.hashCode() without the String: over UTF-16 code units, as hash.cuh decodes them.
  private static int ofText(long address, int length) {
    if (length < Long.BYTES) {
      return ofUnits(0, address, length);
    }
    int hash = 0;
    int i = 0;
    for (; i + Long.BYTES <= length; i += Long.BYTES) {
      long word = HostMemory.getLong(address + i);
      if ((word & NOT_ASCII) != 0) {
        return ofUnits(hash, address + i, length - i);
      }
      hash = hash * POWERS_OF_31[Long.BYTES] + ofAscii(word);
    }
    int rest = length - i;
    if (rest == 0) {
      return hash;
    }
    long word = MurmurHash3.lastBytes(address, length);
    return (word & NOT_ASCII) != 0
        ? ofUnits(hash, address + i, rest)
        : hash * POWERS_OF_31[rest] + ofAscii(word << (Byte.SIZE * (Long.BYTES - rest)));
  }

  // Eight bytes in the lanes of a long: pairs, then fours, then all; zeros in front do not count.
  private static int ofAscii(long word) {
    long pairs = (word & 0x00ff00ff00ff00ffL) * 31 + (word >>> 8 & 0x00ff00ff00ff00ffL);
    long fours = (pairs & 0x0000ffff0000ffffL) * (31 * 31) + (pairs >>> 16 & 0x0000ffff0000ffffL);
    return (int) fours * POWERS_OF_31[4] + (int) (fours >>> 32);
  }

  private static int ofUnits(int start, long address, int length) {
    int hash = start;
    for (int i = 0; i < length; ) {
      int first = HostMemory.getByte(address + i) & 0xff;
      int continuation = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
      int point = continuation == 0 ? first : first & (0x3f >>> continuation);
      for (int k = 1; k <= continuation && i + k < length; k++) {
        point = point << 6 | (HostMemory.getByte(address + i + k) & 0x3f);
      }
      i += continuation + 1;
      if (point > Character.MAX_VALUE) {
        hash = 31 * hash + 0xd7c0 + (point >>> 10);
        point = 0xdc00 + (point & 0x3ff);
      }
      hash = 31 * hash + point;
    }
    return hash;
  }
}
