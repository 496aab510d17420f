// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.spill.SpillException;
import io.millrace.operators.context.DeviceContext;
import io.millrace.state.LiveRows;
import io.millrace.state.StateTable;
import io.millrace.state.row.StateSchema;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.apache.flink.annotation.Internal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes rows that say nothing of a state's only table, whose rows do not expire: some words of
 * them are zero, such as all accumulators. When there are twice as many rows as were needed at the
 * last look, the rows that are needed are counted; if they are at most half of the rows, they are
 * moved to a new table, all at once. Used by one thread.
 */
@Internal
public final class StateCompaction {
  /** So many rows are not worth a look, unless something else is said. */
  public static final long MIN_ROWS = 1 << 12;

  private static final Logger LOG = LoggerFactory.getLogger(StateCompaction.class);

  private final StateTables state;
  private final DeviceContext device;
  private final int firstWord;
  private final int words;
  private final long leastRows;
  private final String rows;
  private long nextLook;
  private long neededRows;

  /**
   * @param firstWord the position in a row of the first of the words
   * @param words how many words there are
   * @param leastRows the fewest rows that are worth a look
   * @param rows what is removed, in the plural, for messages
   */
  public StateCompaction(
      StateTables state,
      DeviceContext device,
      int firstWord,
      int words,
      long leastRows,
      String rows) {
    this.state = state;
    this.device = device;
    this.firstWord = firstWord;
    this.words = words;
    this.leastRows = leastRows;
    this.rows = rows;
    this.nextLook = leastRows;
  }

  /**
   * Removes keys that end when all of their rows were taken back; empty if keys of the state do not
   * end. A key that still has a value, such as a sum of rows that come in another order, stays.
   */
  static Optional<StateCompaction> ofKeys(StateTables state, DeviceContext device) {
    StateSchema schema = state.schema();
    boolean keysEnd = schema.kindColumn() != StateSchema.NO_KINDS && !schema.hasTime();
    return keysEnd
        ? Optional.of(
            new StateCompaction(
                state,
                device,
                schema.firstAccumulator(),
                schema.accumulatorWords(),
                MIN_ROWS,
                "deleted keys"))
        : Optional.empty();
  }

  /** Behind an update. If memory or disk runs out, the state stays as it is. */
  public void advance() {
    StateTable table = state.forUpdate(StateTables.ONLY);
    long count = table.rowCount();
    if (count < nextLook) {
      return;
    }
    try {
      neededRows = 0;
      forChunks(
          table,
          first ->
              neededRows +=
                  LiveRows.countNonZero(table, first, rows(table, first), firstWord, words));
      if (neededRows <= count / 2) {
        compact(table);
        count = neededRows;
      }
      nextLook = Math.max(count + neededRows, leastRows);
    } catch (GpuOutOfMemoryException | SpillException e) {
      LOG.warn("{} keep their rows for now: too little memory", rows, e);
      state.dropReplacement();
      nextLook = count + count / 8;
    }
  }

  private void compact(StateTable table) {
    table.releaseScratch();
    state.beginReplacement();
    StateTable target = state.replacement();
    forChunks(
        table,
        first -> LiveRows.copyNonZero(table, first, rows(table, first), firstWord, words, target));
    target.releaseScratch();
    state.replace(StateTables.ONLY);
  }

  private static int rows(StateTable table, long first) {
    return (int) Math.min(table.chunkRows(), table.rowCount() - first);
  }

  // Each chunk is an attempt of its own.
  private void forChunks(StateTable table, LongConsumer attempt) {
    for (long row = 0; row < table.rowCount(); row += table.chunkRows()) {
      long first = row;
      device.checkNotCanceled();
      device
          .retry()
          .withRetry(
              () -> {
                attempt.accept(first);
                return table;
              });
    }
  }
}
