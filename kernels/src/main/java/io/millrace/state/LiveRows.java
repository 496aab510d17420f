// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateAccess;
import io.millrace.state.row.StateSelection;

/** Rows of a state table that have not expired. */
@PublicEvolving
public final class LiveRows {
  private LiveRows() {}

  /**
   * Counts rows that have not expired: makes one attempt. Waits for the work.
   *
   * @param table stays the caller's
   * @param firstRow the first row that is looked at
   * @param count of rows that are looked at: at least 1, and at most {@link StateTable#chunkRows}
   * @param firstTime rows with an earlier time have expired
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public static int count(StateTable table, long firstRow, int count, long firstTime) {
    long scratchBytes = LongStrings.lookBackBytes(count);
    try (Buffer lookBack = Buffer.allocate(scratchBytes, table.stream(), table.memory());
        AccessScope scope = AccessScope.on(table.stream())) {
      StateAccess access = table.access(AccessMode.READ, scope);
      return StateSelection.of(access, firstRow, count, firstTime, Long.MAX_VALUE, table.stream())
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
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public static void copy(
      StateTable source,
      long firstRow,
      int count,
      long firstTime,
      long endTime,
      StateTable target) {
    long rowBytes = (long) count * source.schema().rowBytes();
    long bytes = rowBytes + LongStrings.lookBackBytes(count);
    try (Buffer copies = Buffer.allocate(bytes, target.stream(), target.memory())) {
      StateSelection.Counts selected;
      try (AccessScope scope = AccessScope.on(target.stream())) {
        long address = copies.access(AccessMode.WRITE, scope);
        StateAccess access = source.access(AccessMode.READ, scope);
        selected =
            StateSelection.of(access, firstRow, count, firstTime, endTime, target.stream())
                .run(address, address + rowBytes);
      }
      target.merge(source, copies, selected, source.schema().expiryBefore(firstTime));
    }
  }
}
