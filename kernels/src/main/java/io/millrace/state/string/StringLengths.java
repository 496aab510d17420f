// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.device.HostMemory;
import io.millrace.state.row.LongStrings;

/**
 * How many long strings there are of each number of bits in their length. Tells how many bytes the
 * strings of some rows have at most, before these rows are known.
 */
final class StringLengths {
  /** Counts: one for each number of bits, from 0 on. */
  static final int COUNTS = Integer.SIZE + 1;

  /** Bytes of a string that is not long, at most. */
  static final int SHORT_BYTES = 12;

  private final long[] counts = new long[COUNTS];

  /** The count that a string belongs to. */
  static int countOf(int length) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(length);
  }

  /**
   * Adds strings.
   *
   * @param address host address of an INT64 for each count
   */
  void add(long address) {
    for (int bits = 0; bits < COUNTS; bits++) {
      counts[bits] += HostMemory.getLong(address + (long) bits * Long.BYTES);
    }
  }

  /** The most bytes of {@code strings} of these strings, or of short ones. */
  long mostBytes(long strings) {
    long left = strings;
    long bytes = 0;
    for (int bits = COUNTS - 1; bits >= 0; bits--) {
      long count = Math.min(left, counts[bits]);
      long longest = (1L << bits) - 1;
      boolean isTooMuch = count > 0 && longest > (Long.MAX_VALUE - bytes) / count;
      bytes = isTooMuch ? Long.MAX_VALUE : bytes + count * longest;
      left -= count;
    }
    boolean isTooMuch = left > (Long.MAX_VALUE - bytes) / SHORT_BYTES;
    return isTooMuch ? Long.MAX_VALUE : bytes + left * SHORT_BYTES;
  }

  /** The most words that so many of these strings take. */
  long mostWords(long strings) {
    return LongStrings.mostWords(strings, mostBytes(strings));
  }
}
