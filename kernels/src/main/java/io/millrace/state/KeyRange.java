// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.ChunkTable;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateAccess;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.StateSelection;

/**
 * The rows of a state table whose last key column, a number or a time without nulls, has a value in
 * a range.
 *
 * @param first value of the range
 * @param end the value behind the range
 */
@PublicEvolving
public record KeyRange(long first, long end) {

  private StateSelection selection(
      StateAccess access, long firstRow, int count, long added, DeviceStream stream) {
    int word = access.schema().lastKeyWord();
    return StateSelection.ofNumbers(access, firstRow, count, word, added, first, end, stream);
  }

  /**
   * Counts the rows: makes one attempt. Waits for the work.
   *
   * @param table stays the caller's
   * @param firstRow the first row that is looked at
   * @param count of rows that are looked at: at least 1, and at most {@link StateTable#chunkRows}
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public int count(StateTable table, long firstRow, int count) {
    return LiveRows.count(
        table, count, access -> selection(access, firstRow, count, 0, table.stream()));
  }

  /**
   * Combines the rows with those of another table of the schema, on the device: makes one attempt.
   * Waits for the work.
   *
   * @param source on the same stream as {@code target}; both stay the caller's
   * @param firstRow as in {@link #count}, likewise {@code count}
   * @param added to the values in the range, for the keys in {@code target}
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public void copy(StateTable source, long firstRow, int count, long added, StateTable target) {
    LiveRows.copy(
        source,
        count,
        access -> selection(access, firstRow, count, added, target.stream()),
        Expiry.NEVER,
        target);
  }

  /**
   * The rows as columns, in their order: makes one attempt. Waits for the work.
   *
   * @param table stays the caller's
   * @param firstRow as in {@link #count}, likewise {@code count}
   * @return the columns of {@link StateSchema#changes}; the caller closes the table
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public Table values(StateTable table, long firstRow, int count) {
    StateSchema schema = table.schema();
    DeviceStream stream = table.stream();
    MemoryResource memory = table.memory();
    long rowBytes = (long) count * schema.rowBytes();
    long bytes = rowBytes + LongStrings.lookBackBytes(count);
    try (Buffer copies = Buffer.allocate(bytes, stream, memory);
        ChunkTable chunks = new ChunkTable(stream, memory);
        AccessScope scope = AccessScope.on(stream)) {
      StateAccess access = table.access(AccessMode.READ, scope);
      long address = copies.access(AccessMode.WRITE, scope);
      int rows =
          selection(access, firstRow, count, 0, stream).run(address, address + rowBytes).rows();
      if (rows == 0) {
        return StateValues.ofNoRows(schema, stream, memory);
      }
      StateAccess.Strings strings =
          new StateAccess.Strings(access.keyStrings(), access.valueStrings());
      long chunkTable = chunks.access(new long[] {address}, scope);
      return StateValues.of(
          StateAccess.ofCopies(schema, rows, address, chunkTable, strings), scope, stream, memory);
    }
  }
}
