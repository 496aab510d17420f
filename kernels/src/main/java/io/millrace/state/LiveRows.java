// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateAccess;
import io.millrace.state.row.StateSelection;

/** Rows of a state table that have not expired, or of which one of some words is not zero. */
@PublicEvolving
public final class LiveRows {
  private LiveRows() {}

  /** Selects rows of a table that is accessed. */
  interface Selected {
    StateSelection of(StateAccess access);
  }

  /**
   * Counts rows that have not expired: makes one attempt. Waits for the work.
   *
   * @param table stays the caller's
   * @param firstRow the first row that is looked at
   * @param count of rows that are looked at: at least 1, and at most {@link StateTable#chunkRows}
   * @param firstTime rows with an earlier time have expired
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public static int count(StateTable table, long firstRow, int count, long firstTime) {
    return count(
        table,
        count,
        access ->
            StateSelection.of(access, firstRow, count, firstTime, Long.MAX_VALUE, table.stream()));
  }

  /**
   * Counts rows of which one of some words is not zero: makes one attempt. Waits for the work.
   *
   * @param firstRow as in {@link #count}, likewise {@code count}
   * @param firstWord the position of the first of the words in a row
   * @param words how many words there are
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public static int countNonZero(
      StateTable table, long firstRow, int count, int firstWord, int words) {
    return count(
        table,
        count,
        access ->
            StateSelection.ofNonZero(access, firstRow, count, firstWord, words, table.stream()));
  }

  static int count(StateTable table, int rows, Selected selected) {
    long scratchBytes = LongStrings.lookBackBytes(rows);
    try (Buffer lookBack = Buffer.allocate(scratchBytes, table.stream(), table.memory());
        AccessScope scope = AccessScope.on(table.stream())) {
      return selected
          .of(table.access(AccessMode.READ, scope))
          .run(0, lookBack.access(AccessMode.WRITE, scope))
          .rows();
    }
  }

  /**
   * Adds the rows of a table whose times are in a range to another table of its schema, on the
   * device: makes one attempt. A row replaces a row of {@code target} with a time before the range.
   * Waits for the work.
   *
   * @param source on the same stream as {@code target}; both stay the caller's
   * @param firstRow the first row of {@code source} that is looked at
   * @param count as in {@link #count}
   * @param firstTime of the range
   * @param endTime behind the range
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public static void copy(
      StateTable source,
      long firstRow,
      int count,
      long firstTime,
      long endTime,
      StateTable target) {
    copy(
        source,
        count,
        access -> StateSelection.of(access, firstRow, count, firstTime, endTime, target.stream()),
        source.schema().expiryBefore(firstTime),
        target);
  }

  /**
   * Adds the rows of which one of some words is not zero to another table of the schema, which has
   * none of their keys, on the device: makes one attempt. Waits for the work.
   *
   * @param source on the same stream as {@code target}; both stay the caller's
   * @param firstRow as in {@link #count}, likewise {@code count}
   * @param firstWord the position of the first of the words in a row
   * @param words how many words there are
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public static void copyNonZero(
      StateTable source, long firstRow, int count, int firstWord, int words, StateTable target) {
    copy(
        source,
        count,
        access ->
            StateSelection.ofNonZero(access, firstRow, count, firstWord, words, target.stream()),
        Expiry.NEVER,
        target);
  }

  static void copy(
      StateTable source, int rows, Selected selected, Expiry replaced, StateTable target) {
    long rowBytes = (long) rows * source.schema().rowBytes();
    long bytes = rowBytes + LongStrings.lookBackBytes(rows);
    try (Buffer copies = Buffer.allocate(bytes, target.stream(), target.memory())) {
      StateSelection.Counts counts;
      try (AccessScope scope = AccessScope.on(target.stream())) {
        long address = copies.access(AccessMode.WRITE, scope);
        counts =
            selected.of(source.access(AccessMode.READ, scope)).run(address, address + rowBytes);
      }
      target.merge(source, copies, counts, replaced);
    }
  }
}
