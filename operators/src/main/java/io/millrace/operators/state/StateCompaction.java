// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.memory.spill.SpillException;
import io.millrace.state.LiveRows;
import io.millrace.state.StateTable;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the rows of keys all of whose rows were taken back, of a state's only table, whose rows
 * do not expire. When the rows are twice as many as they were behind the last look, the keys that
 * are present are counted; if they are at most half of the rows, they are moved to a new table, all
 * at once. Used by one thread.
 */
final class StateCompaction {
  private static final Logger LOG = LoggerFactory.getLogger(StateCompaction.class);

  /** So many rows are not worth a look. */
  static final long MIN_ROWS = 1 << 12;

  private final StateTables state;
  private final GpuRetry retry;
  private long nextLook = MIN_ROWS;
  private long presentRows;

  StateCompaction(StateTables state, GpuRetry retry) {
    this.state = state;
    this.retry = retry;
  }

  /**
   * Whether keys end when all of their rows were taken back. Last values outlive them: they come
   * from operators in front, which may still have values of such a key.
   */
  static boolean isPossible(StateSchema schema) {
    return schema.takesRowsBack()
        && !schema.hasTime()
        && schema.accumulators().stream()
            .noneMatch(accumulator -> accumulator.function() == Function.LAST);
  }

  /** Behind an update. If memory or disk runs out, the state stays as it is. */
  void advance() {
    StateTable table = state.forUpdate(StateTables.ONLY);
    if (table.rowCount() < nextLook) {
      return;
    }
    try {
      presentRows = 0;
      forChunks(
          table, first -> presentRows += LiveRows.countPresent(table, first, rows(table, first)));
      if (presentRows <= table.rowCount() / 2) {
        compact(table);
      }
    } catch (GpuOutOfMemoryException | SpillException e) {
      LOG.warn("rows of deleted keys stay in the state for now: too little memory", e);
    }
    nextLook = Math.max(2 * state.forUpdate(StateTables.ONLY).rowCount(), MIN_ROWS);
  }

  private void compact(StateTable table) {
    StateTable compacted = state.newTable();
    try {
      forChunks(table, first -> LiveRows.copyPresent(table, first, rows(table, first), compacted));
      compacted.releaseScratch();
    } catch (RuntimeException | Error e) {
      compacted.close();
      throw e;
    }
    state.remove(StateTables.ONLY);
    state.put(StateTables.ONLY, compacted);
  }

  private static int rows(StateTable table, long first) {
    return (int) Math.min(table.chunkRows(), table.rowCount() - first);
  }

  // Each chunk is an attempt of its own.
  private void forChunks(StateTable table, LongConsumer attempt) {
    for (long row = 0; row < table.rowCount(); row += table.chunkRows()) {
      long first = row;
      retry.withRetry(
          () -> {
            attempt.accept(first);
            return table;
          });
    }
  }
}
