package io.millrace.kernel;

import java.io.Serializable;

/**
 * How a hash becomes the number of a partition.
 *
 * @param rule which rule
 * @param partitions how many numbers there are
 * @param maximumParallelism key groups, for the rules that use them, else 1
 */
public record PartitionNumbering(Rule rule, int partitions, int maximumParallelism)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The largest number of key groups that Flink allows. */
  public static final int LARGEST_MAXIMUM_PARALLELISM = 1 << 15;

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

  /** libcudf's numbering: {@code partitions} numbers by the remainder of the unsigned hash. */
  public static PartitionNumbering modulo(int partitions) {
    if (partitions < 1) {
      throw new IllegalArgumentException("partitions must be at least 1, but are " + partitions);
    }
    boolean isPowerOfTwo = Integer.bitCount(partitions) == 1;
    return new PartitionNumbering(isPowerOfTwo ? Rule.MASK : Rule.MODULO, partitions, 1);
  }

  /** One partition a key group, as Flink's KeyGroupRangeAssignment. */
  public static PartitionNumbering keyGroups(int maximumParallelism) {
    checkMaximumParallelism(maximumParallelism);
    return new PartitionNumbering(Rule.KEY_GROUP, maximumParallelism, maximumParallelism);
  }

  /** One partition a subtask, as Flink's KeyGroupRangeAssignment. */
  public static PartitionNumbering subtasks(int maximumParallelism, int parallelism) {
    checkMaximumParallelism(maximumParallelism);
    if (parallelism < 1 || parallelism > maximumParallelism) {
      throw new IllegalArgumentException(
          "parallelism must be from 1 to "
              + maximumParallelism
              + ", the maximum parallelism, but is "
              + parallelism);
    }
    return new PartitionNumbering(Rule.SUBTASK, parallelism, maximumParallelism);
  }

  private static void checkMaximumParallelism(int maximumParallelism) {
    if (maximumParallelism < 1 || maximumParallelism > LARGEST_MAXIMUM_PARALLELISM) {
      throw new IllegalArgumentException(
          "maximum parallelism must be from 1 to "
              + LARGEST_MAXIMUM_PARALLELISM
              + ", but is "
              + maximumParallelism);
    }
  }

  /** The partition of a hash. */
  public int partition(int hash) {
    return switch (rule) {
      case MASK -> hash & (partitions - 1);
      case MODULO -> Integer.remainderUnsigned(hash, partitions);
      case KEY_GROUP -> keyGroup(hash);
      case SUBTASK -> keyGroup(hash) * partitions / maximumParallelism;
    };
  }

  private int keyGroup(int hash) {
    int mixed = MurmurHash3.finish(MurmurHash3.mixWord(0, hash), Integer.BYTES);
    int positive = mixed >= 0 ? mixed : mixed == Integer.MIN_VALUE ? 0 : -mixed;
    return positive % maximumParallelism;
  }
}
