// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import io.millrace.annotation.PublicEvolving;

/**
 * Which rows of the vectors a function is asked for, in ascending order, none of them with a null
 * operand, and where it says for which it fails.
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

  /** Takes the failures of a call. */
  @FunctionalInterface
  public interface FailureSink {
    /**
     * Takes one.
     *
     * @param cause what the function threw; null if it threw nothing
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

  /** Other rows of the same chunk, failing to the same place. */
  public Rows of(int[] otherPositions, int otherCount) {
    return new Rows(otherPositions, otherCount, false, failures);
  }

  /** The same rows, failing elsewhere. */
  public Rows failingTo(FailureSink sink) {
    return new Rows(positions, count, dense, sink);
  }

  /** How many there are. */
  public int count() {
    return count;
  }

  /** The row at {@code index}, 0 to {@link #count} - 1. */
  public int position(int index) {
    return positions[index];
  }

  /** Whether the rows are 0 to {@link #count} - 1, so that a loop needs no positions. */
  public boolean isDense() {
    return dense;
  }

  /**
   * Says that the function fails for a row, whose result is null then.
   *
   * @param status a failure
   */
  public void fail(int row, Status status) {
    failures.fail(row, status, null);
  }

  /** Says that a user's function threw {@code cause} for a row, whose result is null then. */
  public void fail(int row, RuntimeException cause) {
    failures.fail(row, Status.FUNCTION_THREW, cause);
  }
}
