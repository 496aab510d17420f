// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import io.millrace.annotation.PublicEvolving;
import io.millrace.expression.error.InvalidArgumentException;

/**
 * The rows of a chunk for which a function is called, in ascending order, none with a null operand,
 * and the sink for their failures.
 */
@PublicEvolving
public final class Rows {
  private static final int[] ALL = new int[HostVector.CAPACITY];

  static {
    for (int i = 0; i < ALL.length; i++) {
      ALL[i] = i;
    }
  }

  private final int[] positions;
  private final int count;
  private final boolean dense;
  private final FailureSink failures;

  /** Receives failed rows. */
  @FunctionalInterface
  public interface FailureSink {
    /**
     * Reports a failed row.
     *
     * @param cause the exception of the function; null if there is none
     */
    void fail(int row, Status status, RuntimeException cause);
  }

  Rows(int[] positions, int count, FailureSink failures) {
    this(positions, count, false, failures);
  }

  private Rows(int[] positions, int count, boolean dense, FailureSink failures) {
    this.positions = positions;
    this.count = count;
    this.dense = dense;
    this.failures = failures;
  }

  /** The rows 0 to {@code count} - 1. */
  public static Rows all(int count, FailureSink failures) {
    return new Rows(ALL, count, true, failures);
  }

  /** Other rows of the same chunk with the same failure sink. */
  public Rows of(int[] otherPositions, int otherCount) {
    return new Rows(otherPositions, otherCount, false, failures);
  }

  /** The same rows with another failure sink. */
  public Rows failingTo(FailureSink sink) {
    return new Rows(positions, count, dense, sink);
  }

  /** Number of rows. */
  public int count() {
    return count;
  }

  /** The row at {@code index}, which is 0 to {@link #count} - 1. */
  public int position(int index) {
    return positions[index];
  }

  /** Whether the rows are 0 to {@link #count} - 1, so that loops need no positions. */
  public boolean isDense() {
    return dense;
  }

  /**
   * Reports that the function fails for a row. The result of the row becomes null.
   *
   * @param status a failure
   */
  public void fail(int row, Status status) {
    failures.fail(row, status, null);
  }

  /**
   * As {@link #fail(int, Status)} with an invalid argument.
   *
   * @param reason why, in the words of Flink's function
   */
  public void refuse(int row, String reason) {
    failures.fail(row, Status.INVALID_ARGUMENT, new InvalidArgumentException(reason));
  }

  /**
   * Reports that a user-defined function threw {@code cause} for a row. The result of the row
   * becomes null.
   */
  public void fail(int row, RuntimeException cause) {
    failures.fail(row, Status.FUNCTION_THREW, cause);
  }
}
