// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.memory.spill.SpillException;
import io.millrace.state.LiveRows;
import io.millrace.state.StateTable;
import io.millrace.state.row.UpdateTime;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the expired rows of a state's only table, a part of the work with each update. First it
 * counts the rows that have not expired. If they are at most half of all rows, it moves them to a
 * new table, but leaves those that were updated since the move began to the end: a row tells so by
 * its time. At the end it moves these, and the new table takes the place of the old one. Until then
 * the old table is the state. Used by one thread.
 */
final class StateSweep {
  private static final Logger LOG = LoggerFactory.getLogger(StateSweep.class);

  // Sweeps in the time in which a row expires.
  private static final int SWEEPS = 4;
  // Updates with which a sweep counts, and moves, if the table has at least so many chunks.
  private static final int PARTS = 16;

  private enum Phase {
    WAITING,
    COUNTING,
    MOVING
  }

  private final StateTables state;
  private final GpuRetry retry;
  private final long interval;
  private Phase phase = Phase.WAITING;
  private long nextSweep;
  // The next row to count or to move, and the end of these rows.
  private long row;
  private long end;
  private long liveRows;
  private long moveStart;

  /**
   * @param timeToLive in milliseconds
   * @param now in milliseconds
   */
  StateSweep(StateTables state, GpuRetry retry, long timeToLive, long now) {
    this.state = state;
    this.retry = retry;
    this.interval = Math.max(timeToLive / SWEEPS, 1);
    this.nextSweep = now + interval;
  }

  /**
   * Does a part of the work, behind an update at {@code time}, or at a watermark. If memory runs
   * out on the device, or memory and disk to spill to, the sweep ends and the state stays as it is.
   */
  void advance(UpdateTime time) {
    if (phase == Phase.WAITING && time.now() < nextSweep) {
      return;
    }
    if (phase == Phase.WAITING && state.rowCount() == 0) {
      await(time);
      return;
    }
    try {
      sweep(state.forUpdate(StateTables.ONLY), time);
    } catch (GpuOutOfMemoryException | SpillException e) {
      LOG.warn("expired rows stay in the state until the next sweep: too little memory", e);
      state.dropReplacement();
      await(time);
    }
  }

  private void sweep(StateTable table, UpdateTime time) {
    if (phase == Phase.WAITING) {
      begin(Phase.COUNTING, table);
      liveRows = 0;
    }
    if (phase == Phase.COUNTING) {
      count(table, time);
    } else {
      move(table, time);
    }
  }

  private void begin(Phase begun, StateTable table) {
    phase = begun;
    row = 0;
    end = table.rowCount();
  }

  private void await(UpdateTime time) {
    phase = Phase.WAITING;
    nextSweep = time.now() + interval;
  }

  private void count(StateTable table, UpdateTime time) {
    forChunks(
        table,
        parts(table),
        first -> liveRows += LiveRows.count(table, first, rows(table, first), time.oldest()));
    if (row == end) {
      if (liveRows > end / 2) {
        await(time);
      } else {
        state.beginReplacement();
        moveStart = time.now();
        begin(Phase.MOVING, table);
      }
    }
  }

  private void move(StateTable table, UpdateTime time) {
    StateTable target = state.replacement();
    forChunks(
        table,
        parts(table),
        first -> LiveRows.copy(table, first, rows(table, first), time.oldest(), moveStart, target));
    if (row < end) {
      target.releaseScratch();
      return;
    }
    begin(Phase.MOVING, table);
    forChunks(
        table,
        Long.MAX_VALUE,
        first ->
            LiveRows.copy(table, first, rows(table, first), moveStart, Long.MAX_VALUE, target));
    state.countExpired(table.rowCount() - target.rowCount());
    state.replace(StateTables.ONLY);
    await(time);
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
}
