// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.memory.spill.SpillException;
import io.millrace.state.LiveRows;
import io.millrace.state.StateTable;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.Accumulator.Function;
import io.millrace.state.row.StateSchema;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.apache.flink.annotation.Internal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes rows that say nothing of a state's only table, whose rows do not expire: a word of them
 * is zero, such as the number of rows of a key. When the rows are twice as many as they were behind
 * the last look, the other ones are counted; if they are at most half of the rows, they are moved
 * to a new table, all at once. Used by one thread.
 */
@Internal
public final class StateCompaction {
  /** So many rows are not worth a look, unless something else is said. */
  public static final long MIN_ROWS = 1 << 12;

  private static final Logger LOG = LoggerFactory.getLogger(StateCompaction.class);

  private final StateTables state;
  private final GpuRetry retry;
  private final int word;
  private final long leastRows;
  private final String rows;
  private long nextLook;
  private long rowsThatStay;

  /**
   * @param word the position of the word in a row
   * @param leastRows the fewest rows that are worth a look
   * @param rows what is removed, in the plural, for messages
   */
  public StateCompaction(StateTables state, GpuRetry retry, int word, long leastRows, String rows) {
    this.state = state;
    this.retry = retry;
    this.word = word;
    this.leastRows = leastRows;
    this.rows = rows;
    this.nextLook = leastRows;
  }

  /**
   * Of keys that end when all of their rows were taken back; empty if keys of the state do not end.
   * Last values outlive keys: they come from operators in front, which may still have values then.
   */
  static Optional<StateCompaction> ofKeys(StateTables state, GpuRetry retry) {
    StateSchema schema = state.schema();
    List<Accumulator> accumulators = schema.accumulators();
    boolean isPossible =
        schema.kindColumn() != StateSchema.NO_KINDS
            && !schema.hasTime()
            && accumulators.stream().noneMatch(value -> value.function() == Function.LAST);
    return accumulators.stream()
        .filter(accumulator -> isPossible && accumulator.isRowCount())
        .findFirst()
        .map(
            count ->
                new StateCompaction(
                    state, retry, schema.word(count.name()), MIN_ROWS, "deleted keys"));
  }

  /** Behind an update. If memory or disk runs out, the state stays as it is. */
  public void advance() {
    StateTable table = state.forUpdate(StateTables.ONLY);
    if (table.rowCount() < nextLook) {
      return;
    }
    try {
      rowsThatStay = 0;
      forChunks(
          table,
          first -> rowsThatStay += LiveRows.countNonZero(table, first, rows(table, first), word));
      if (rowsThatStay <= table.rowCount() / 2) {
        compact(table);
      }
    } catch (GpuOutOfMemoryException | SpillException e) {
      LOG.warn("{} keep their rows for now: too little memory", rows, e);
    }
    nextLook = Math.max(2 * state.forUpdate(StateTables.ONLY).rowCount(), leastRows);
  }

  private void compact(StateTable table) {
    StateTable compacted = state.newTable();
    try {
      forChunks(
          table, first -> LiveRows.copyNonZero(table, first, rows(table, first), word, compacted));
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
