// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.spill.SpillException;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateTables;
import io.millrace.state.StateTable;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToLongFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the rows of entries that are not in a map any more, of entries that do not expire. When
 * the rows are twice as many as they were behind the last look, the entries are counted; if they
 * are at most half of the rows, they are moved to a new table, all at once. Used by one thread.
 */
final class EntryCompaction {
  private static final Logger LOG = LoggerFactory.getLogger(EntryCompaction.class);

  private final MapSteps steps;
  private final StateTables state;
  private final DeviceContext context;
  private final EntryScan scan;
  private final long leastRows;
  private long nextLook;

  /**
   * @param leastRows the fewest rows that are worth a look
   */
  EntryCompaction(
      MapSteps steps, StateTables state, DeviceContext context, EntryScan scan, long leastRows) {
    this.steps = steps;
    this.state = state;
    this.context = context;
    this.scan = scan;
    this.leastRows = leastRows;
    this.nextLook = leastRows;
  }

  /** Behind an update. If memory runs out, the state stays as it is. */
  void advance() {
    StateTable table = state.forUpdate(StateTables.ONLY);
    if (table.rowCount() < nextLook) {
      return;
    }
    try {
      if (sum(table, Table::rowCount) <= table.rowCount() / 2) {
        compact(table);
      }
    } catch (GpuOutOfMemoryException | SpillException e) {
      LOG.warn(
          "entries of '{}' that were removed keep their rows for now: too little memory",
          steps.map().name(),
          e);
    }
    nextLook = Math.max(2 * state.forUpdate(StateTables.ONLY).rowCount(), leastRows);
  }

  private void compact(StateTable table) {
    StateTable compacted = state.newTable();
    try {
      sum(table, entries -> move(entries, compacted));
      compacted.releaseScratch();
    } catch (RuntimeException | Error e) {
      compacted.close();
      throw e;
    }
    state.remove(StateTables.ONLY);
    state.put(StateTables.ONLY, compacted);
  }

  private long move(Table entries, StateTable target) {
    if (entries.rowCount() == 0) {
      return 0;
    }
    try (Table moves = steps.moves().apply(entries, context.stream(), context.resource())) {
      target.update(moves).close();
      return 0;
    }
  }

  // Of the entries of all rows; some rows at a time, each time in an attempt of its own.
  private long sum(StateTable table, ToLongFunction<Table> ofEntries) {
    LongAdder sum = new LongAdder();
    for (EntryScan.Rows rows : scan.parts(table)) {
      context.retry().withSplitAndRetry(rows, part -> ofEntries(table, part, ofEntries), sum::add);
    }
    return sum.sum();
  }

  private long ofEntries(StateTable table, EntryScan.Rows rows, ToLongFunction<Table> function) {
    try (Table entries = scan.entries(table, rows, null)) {
      return function.applyAsLong(entries);
    }
  }
}
