// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.annotation.PublicEvolving;
import io.millrace.kernel.hash.MurmurHash3;
import java.io.Serializable;

/**
 * Maps a hash to a partition number.
 *
 * @param rule the rule
 * @param partitions the number of partitions
 * @param maximumParallelism key groups, for the rules that use them, else 1
 */
@PublicEvolving
public record PartitionAssigner(Rule rule, int partitions, int maximumParallelism)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The largest number of key groups that Flink allows. */
  public static final int LARGEST_MAXIMUM_PARALLELISM = 1 << 15;

  /** The largest number of partitions: an array must hold an offset per partition and the end. */
  public static final int MAX_PARTITIONS = Integer.MAX_VALUE - 9;

  /** The rules; their order is the kernels' numbering. */
  public enum Rule {
    /** The remainder of the unsigned hash. */
    MODULO,
    /** The same for a power of two. */
    MASK,
    /** Flink's key group. */
    KEY_GROUP,
    /** The Flink subtask that owns the key group. */
    SUBTASK
  }

  /**
   * libcudf's numbering: {@code partitions} numbers by the remainder of the unsigned hash.
   *
   * @throws IllegalArgumentException if {@code partitions} is less than 1 or more than {@link
   *     #MAX_PARTITIONS}
   */
  public static PartitionAssigner modulo(int partitions) {
    checkPartitions(partitions);
    return new PartitionAssigner(isPowerOfTwo(partitions) ? Rule.MASK : Rule.MODULO, partitions, 1);
  }

  static void checkPartitions(int partitions) {
    if (partitions < 1) {
      throw new IllegalArgumentException("expected at least 1 partition, got " + partitions);
    }
    if (partitions > MAX_PARTITIONS) {
      throw new IllegalArgumentException(
          "expected at most " + MAX_PARTITIONS + " partitions, got " + partitions);
    }
  }

  /** One partition per key group, as Flink's KeyGroupRangeAssignment. */
  public static PartitionAssigner keyGroups(int maximumParallelism) {
    checkMaximumParallelism(maximumParallelism);
    return new PartitionAssigner(Rule.KEY_GROUP, maximumParallelism, maximumParallelism);
  }

  /** One partition per subtask, as Flink's KeyGroupRangeAssignment. */
  public static PartitionAssigner subtasks(int maximumParallelism, int parallelism) {
    checkMaximumParallelism(maximumParallelism);
    if (parallelism < 1 || parallelism > maximumParallelism) {
      throw new IllegalArgumentException(
          "expected a parallelism from 1 to "
              + maximumParallelism
              + ", the maximum parallelism, got "
              + parallelism);
    }
    return new PartitionAssigner(Rule.SUBTASK, parallelism, maximumParallelism);
  }

  private static void checkMaximumParallelism(int maximumParallelism) {
    if (maximumParallelism < 1 || maximumParallelism > LARGEST_MAXIMUM_PARALLELISM) {
      throw new IllegalArgumentException(
          "expected a maximum parallelism from 1 to "
              + LARGEST_MAXIMUM_PARALLELISM
              + ", got "
              + maximumParallelism);
    }
  }

  /** The partition of a hash. */
  public int partition(int hash) {
    int[] hashes = {hash};
    number(hashes, 1);
    return hashes[0];
  }

  /** Replaces the first {@code count} hashes by their partitions. */
  void number(int[] hashes, int count) {
    switch (rule) {
      case MASK -> {
        for (int i = 0; i < count; i++) {
          hashes[i] &= partitions - 1;
        }
      }
      case MODULO -> {
        long multiplier = multiplier(partitions);
        for (int i = 0; i < count; i++) {
          hashes[i] = remainder(hashes[i], multiplier, partitions);
        }
      }
      case KEY_GROUP -> toKeyGroups(hashes, count);
      case SUBTASK -> {
        toKeyGroups(hashes, count);
        toSubtasks(hashes, count);
      }
    }
  }

  // Flink chooses powers of two, for which the compiler emits vector instructions. The absolute
  // value of MIN_VALUE is itself; Flink takes 0 for it.
  private void toKeyGroups(int[] hashes, int count) {
    for (int i = 0; i < count; i++) {
      hashes[i] = Math.abs(MurmurHash3.ofInt(0, hashes[i])) & Integer.MAX_VALUE;
    }
    if (isPowerOfTwo(maximumParallelism)) {
      for (int i = 0; i < count; i++) {
        hashes[i] &= maximumParallelism - 1;
      }
    } else {
      long multiplier = multiplier(maximumParallelism);
      for (int i = 0; i < count; i++) {
        hashes[i] = remainder(hashes[i], multiplier, maximumParallelism);
      }
    }
  }

  // The products are below 2^30.
  private void toSubtasks(int[] keyGroups, int count) {
    if (isPowerOfTwo(maximumParallelism)) {
      int shift = Integer.numberOfTrailingZeros(maximumParallelism);
      for (int i = 0; i < count; i++) {
        keyGroups[i] = (keyGroups[i] * partitions) >>> shift;
      }
    } else {
      long multiplier = multiplier(maximumParallelism);
      for (int i = 0; i < count; i++) {
        keyGroups[i] = (int) highProduct(multiplier, (long) keyGroups[i] * partitions);
      }
    }
  }

  private static boolean isPowerOfTwo(int number) {
    return Integer.bitCount(number) == 1;
  }

  /**
   * The multiplier that replaces a division of 32 bits by a multiplication, exactly: ceil(2^64 /
   * divisor) modulo 2^64.
   */
  static long multiplier(int divisor) {
    return Long.divideUnsigned(-1L, divisor) + 1;
  }

  private static int remainder(int value, long multiplier, int divisor) {
    return (int) highProduct(multiplier * (value & 0xffffffffL), divisor);
  }

  /** The upper 64 bits of the product, unsigned. */
  private static long highProduct(long left, long right) {
    return Math.multiplyHigh(left, right) + (left >> 63 & right) + (right >> 63 & left);
  }
}
