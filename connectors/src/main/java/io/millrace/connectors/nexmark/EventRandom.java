// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

/**
 * The random numbers of one event: SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom
 * number generators"), started from the seed and the event's number, so that an event is the same
 * whoever generates it.
 */
final class EventRandom {
  private static final long GOLDEN_GAMMA = 0x9e3779b97f4a7c15L;

  private final long seed;
  private long state;

  EventRandom(long seed) {
    this.seed = mix(seed + GOLDEN_GAMMA);
  }

  /** Goes to the first number of {@code event}. */
  void start(long event) {
    state = mix(seed ^ (event * GOLDEN_GAMMA));
  }

  long nextLong() {
    state += GOLDEN_GAMMA;
    return mix(state);
  }

  /** A number from 0 to {@code bound - 1}, {@code bound} being at most 2^31. */
  int nextInt(long bound) {
    return (int) (((nextLong() >>> 32) * bound) >>> 32);
  }

  /** A number from 0 to {@code bound - 1}. */
  long nextLong(long bound) {
    return Math.multiplyHigh(nextLong() >>> 1, bound << 1);
  }

  private static long mix(long value) {
    long z = (value ^ (value >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }
}
