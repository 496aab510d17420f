// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.spill.SpillException;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateTables;
import io.millrace.state.StateTable;
import java.util.List;
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

  /** So many rows are not worth a look. */
  static final long MIN_ROWS = 1 << 12;

  private final MapSteps steps;
  private final StateTables state;
  private final DeviceContext context;
  private long nextLook = MIN_ROWS;

  EntryCompaction(MapSteps steps, StateTables state, DeviceContext context) {
    this.steps = steps;
    this.state = state;
    this.context = context;
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
    nextLook = Math.max(2 * state.forUpdate(StateTables.ONLY).rowCount(), MIN_ROWS);
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
    long sum = 0;
    for (long row = 0; row < table.rowCount(); row += KeyedMap.SCAN_ROWS) {
      long first = row;
      int count = (int) Math.min(KeyedMap.SCAN_ROWS, table.rowCount() - row);
      sum += context.retry().withRetry(() -> ofEntries(table, first, count, ofEntries));
    }
    return sum;
  }

  private long ofEntries(
      StateTable table, long firstRow, int count, ToLongFunction<Table> function) {
    try (Table rows = table.values(firstRow, count, List.of());
        Table entries = steps.entries().apply(rows, context.stream(), context.resource())) {
      return function.applyAsLong(entries);
    }
  }
}
