// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.PublicEvolving;

/**
 * Which state rows have expired, by the word of their time.
 *
 * @param oldest the word of the oldest time that has not expired, without {@code mask}; 0 if no row
 *     expires
 * @param mask inverted bits of a word: times are kept in the order of unsigned numbers, or as the
 *     complement
 */
@PublicEvolving
public record Expiry(long oldest, long mask) {
  /** No row expires. */
  public static final Expiry NEVER = new Expiry(0, 0);

  /**
   * The rows with a time before {@code time} have expired.
   *
   * @param accumulator the time
   */
  static Expiry before(long time, Accumulator accumulator) {
    // Zero says that no row expires.
    long oldest = Math.max(time, Long.MIN_VALUE + 1) ^ Long.MIN_VALUE;
    return new Expiry(oldest, accumulator.function() == Accumulator.Function.MIN ? -1 : 0);
  }

  public boolean isExpired(long word) {
    return Long.compareUnsigned(word ^ mask, oldest) < 0;
  }

  /** The word of a time. */
  public long word(long time) {
    return time ^ Long.MIN_VALUE ^ mask;
  }
}
