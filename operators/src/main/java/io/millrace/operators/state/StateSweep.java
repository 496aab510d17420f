// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.state.StateTable;
import io.millrace.state.row.UpdateTime;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the expired rows of a subtask's only table, a part of the work with each update. First it
 * counts the rows that have not expired. If they are at most half of all rows, it moves them to a
 * new table, but leaves those that were updated since the move began to the end: a row tells so by
 * its time. At the end it moves these, and the new table takes the place of the old one. Until then
 * the old table is the state. Used by one thread.
 */
final class StateSweep implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StateSweep.class);

  // Sweeps in the time in which a row expires.
  private static final int SWEEPS = 4;
  // Updates with which a sweep counts, and moves, if the table has at least so many chunks.
  private static final int PARTS = 16;

  private final StateTables state;
  private final GpuRetry retry;
  private final long interval;
  private long nextSweep = Long.MAX_VALUE;
  // The next row to count or to move, and the end of these rows; equal if no sweep is under way.
  private long row;
  private long end;
  private long liveRows;
  // null while rows are counted.
  private StateTable target;
  private long moveStart;

  /**
   * @param timeToLive in milliseconds
   */
  StateSweep(StateTables state, GpuRetry retry, long timeToLive) {
    this.state = state;
    this.retry = retry;
    this.interval = Math.max(timeToLive / SWEEPS, 1);
  }

  /**
   * Does a part of the work, behind an update at {@code time}. If memory runs out, the sweep ends
   * and the state stays as it is.
   */
  void advance(UpdateTime time) {
    if (row == end && time.now() < nextSweep && nextSweep != Long.MAX_VALUE) {
      return;
    }
    try {
      sweep(time);
    } catch (GpuOutOfMemoryException e) {
      LOG.warn("expired rows stay in the state until the next sweep: too little memory", e);
      endSweep(time);
    }
  }

  private void sweep(UpdateTime time) {
    StateTable table = state.forUpdate(StateTables.ONLY);
    if (row == end) {
      if (nextSweep == Long.MAX_VALUE) {
        endSweep(time);
        return;
      }
      begin(table);
    }
    if (target == null) {
      forChunks(
          table,
          parts(table),
          first -> liveRows += table.countRowsSince(first, rows(table, first), time.oldest()));
      if (row == end) {
        startMove(table, time);
      }
    } else {
      forChunks(
          table,
          parts(table),
          first -> target.merge(table, first, rows(table, first), time.oldest(), moveStart));
      if (row == end) {
        finish(table);
        endSweep(time);
      } else {
        target.releaseScratch();
      }
    }
  }

  private void begin(StateTable table) {
    row = 0;
    end = table.rowCount();
    liveRows = 0;
  }

  private void startMove(StateTable table, UpdateTime time) {
    if (liveRows > end / 2) {
      endSweep(time);
      return;
    }
    begin(table);
    moveStart = time.now();
    target = state.newTable();
  }

  private void finish(StateTable table) {
    begin(table);
    forChunks(
        table,
        Long.MAX_VALUE,
        first -> target.merge(table, first, rows(table, first), moveStart, Long.MAX_VALUE));
    state.replace(StateTables.ONLY, target);
    target = null;
  }

  private void endSweep(UpdateTime time) {
    close();
    row = 0;
    end = 0;
    nextSweep = time.now() + interval;
  }

  private static long parts(StateTable table) {
    return table.rowCount() / table.chunkRows() / PARTS + 1;
  }

  private int rows(StateTable table, long first) {
    return (int) Math.min(table.chunkRows(), end - first);
  }

  // Each chunk is an attempt of its own.
  private void forChunks(StateTable table, long mostChunks, LongConsumer attempt) {
    for (long chunk = 0; chunk < mostChunks && row < end; chunk++) {
      long first = row;
      retry.withRetry(
          () -> {
            attempt.accept(first);
            return table;
          });
      row += rows(table, first);
    }
  }

  /** Gives up the rows that were moved. */
  @Override
  public void close() {
    if (target != null) {
      target.close();
      target = null;
    }
  }
}
