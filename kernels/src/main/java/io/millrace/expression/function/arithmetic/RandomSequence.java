// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.arithmetic;

import java.util.Random;

/**
 * The numbers of {@link Random}, each computed from the seed and its position in the sequence, so
 * that rows need no state and may be computed in any order and again.
 */
final class RandomSequence {
  private static final long MULTIPLIER = 0x5DEECE66DL;
  private static final long INCREMENT = 0xB;
  private static final long MASK = (1L << 48) - 1;

  private RandomSequence() {}

  /** The result of call {@code index} of {@link Random#nextDouble}. */
  static double doubleAt(long seed, long index) {
    long high = next(stateAfter(seed, 2 * index));
    long low = next(high);
    return (((high >>> 22) << 27) + (low >>> 21)) * 0x1.0p-53;
  }

  /**
   * The result of {@link Random#nextInt(int)} after {@code index} numbers were drawn, which is call
   * {@code index} unless an earlier call drew more than one.
   *
   * @param bound at least 1
   */
  static int intAt(long seed, long index, int bound) {
    long state = next(stateAfter(seed, index));
    if ((bound & (bound - 1)) == 0) {
      return (int) ((bound * (state >>> 17)) >> 31);
    }
    int drawn = (int) (state >>> 17);
    int result = drawn % bound;
    // Numbers behind the last multiple of the bound are drawn again.
    while (drawn - result + (bound - 1) < 0) {
      state = next(state);
      drawn = (int) (state >>> 17);
      result = drawn % bound;
    }
    return result;
  }

  private static long next(long state) {
    return (state * MULTIPLIER + INCREMENT) & MASK;
  }

  /** The state of the generator after a number of steps: a step is linear, and so are many. */
  private static long stateAfter(long seed, long steps) {
    long factor = 1;
    long offset = 0;
    long power = MULTIPLIER;
    long increment = INCREMENT;
    for (long left = steps; left != 0; left >>>= 1) {
      if ((left & 1) != 0) {
        factor *= power;
        offset = offset * power + increment;
      }
      increment *= power + 1;
      power *= power;
    }
    return (((seed ^ MULTIPLIER) & MASK) * factor + offset) & MASK;
  }
}
