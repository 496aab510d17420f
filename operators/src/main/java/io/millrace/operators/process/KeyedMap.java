// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.kernel.concatenate.Concatenate;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateCompaction;
import io.millrace.operators.state.StateTables;
import io.millrace.state.StateTable;
import io.millrace.state.lookup.StateLookup;
import io.millrace.state.row.UpdateTime;
import java.util.ArrayList;
import java.util.List;

/**
 * A map in the state of a subtask. Reads, and {@link #updates}, make one attempt. Used by one
 * thread.
 */
final class KeyedMap {
  private final MapSteps steps;
  private final StateTables state;
  private final DeviceContext context;
  private final StateLookup lookup;
  private final EntryScan scan;
  private final StateCompaction compaction;

  KeyedMap(MapSteps steps, StateTables state, DeviceContext context, EntryScan.Limits limits) {
    this.steps = steps;
    this.state = state;
    this.context = context;
    this.lookup = new StateLookup(context.stream(), context.resource());
    this.scan = new EntryScan(steps, context, limits);
    this.compaction =
        new StateCompaction(
            state,
            context,
            steps.state().word(MapSteps.IS_ENTRY),
            1,
            limits.compactionRows(),
            "entries of '" + steps.map().name() + "' that were removed");
  }

  MapStateSchema schema() {
    return steps.map();
  }

  /** Whether entries expire. */
  boolean expires() {
    return state.schema().hasTime();
  }

  /**
   * Looks entries up.
   *
   * @param requests of {@link MapStateSchema#requests}, with numbers of {@code keys}; stays the
   *     caller's
   * @param keys the key columns of the batch's keys; stays the caller's
   * @param time null if entries do not expire
   * @return for each request a row of {@link MapStateSchema#found}, which the caller closes
   */
  Table find(Table requests, Table keys, UpdateTime time) {
    try (Table named = withKeys(requests, keys, steps.keys());
        StateTable groups = new StateTable(steps.groups(), context.stream(), context.resource())) {
      groups.accumulate(named);
      try (Column rows = lookup.rows(groups, named, DataType.INT32);
          Table found = lookup.values(state.forUpdate(StateTables.ONLY), groups, time);
          Table values = steps.values().apply(found, context.stream(), context.resource())) {
        return Gather.gatherRepeated(values, rows, context.stream(), context.resource());
      }
    }
  }

  /**
   * All entries of keys: reads the whole map, in parts, of which only the entries of the keys are
   * kept.
   *
   * @param batchKeys numbers the keys of the batch
   * @param isRequested {@link MapSteps#IS_REQUESTED} of each key of the batch; stays the caller's
   * @param time null if entries do not expire
   * @return rows of {@link MapStateSchema#entries}, which the caller closes
   */
  Table entries(StateTable batchKeys, Table isRequested, UpdateTime time) {
    StateTable table = state.forUpdate(StateTables.ONLY);
    List<Table> parts = new ArrayList<>();
    try {
      for (EntryScan.Rows rows : scan.parts(table)) {
        addEntries(table, rows, batchKeys, isRequested, time, parts);
      }
      return parts.size() == 1 ? parts.get(0).share() : concatenate(parts);
    } finally {
      FirstFailure failure = new FirstFailure();
      parts.forEach(part -> failure.run(part::close));
      failure.rethrow();
    }
  }

  // The rows may have longer strings than others. A batch in parts would read the same rows.
  private void addEntries(
      StateTable table,
      EntryScan.Rows rows,
      StateTable batchKeys,
      Table isRequested,
      UpdateTime time,
      List<Table> parts) {
    try (Table entries = entries(table, rows, batchKeys, isRequested, time)) {
      if (entries.rowCount() > 0) {
        parts.add(concatenate(List.of(entries)));
      }
    } catch (GpuOutOfMemoryException e) {
      List<EntryScan.Rows> halves = rows.halves();
      if (halves.isEmpty()) {
        throw e;
      }
      halves.forEach(half -> addEntries(table, half, batchKeys, isRequested, time, parts));
    }
  }

  // Of exactly the size of the rows: a calc's result has room for all rows of its input.
  private Table concatenate(List<Table> parts) {
    return Concatenate.concatenate(
        steps.map().entries(), parts, context.stream(), context.resource());
  }

  private Table entries(
      StateTable table,
      EntryScan.Rows rows,
      StateTable batchKeys,
      Table isRequested,
      UpdateTime time) {
    try (Table entries = scan.entries(table, rows, time);
        Table keys = steps.batchKeys().apply(entries, context.stream(), context.resource());
        Column keyNumbers = lookup.rows(batchKeys, keys, DataType.INT32);
        // Keys that are not of the batch have numbers below 0, which gives false.
        Table ofEntries =
            Gather.gather(isRequested, keyNumbers, context.stream(), context.resource())) {
      List<Column> columns = new ArrayList<>();
      entries.columns().forEach(column -> columns.add(column.share()));
      columns.add(keyNumbers.share());
      columns.add(ofEntries.column(0).share());
      Schema schema = steps.requested().inputSchema();
      try (Table numbered = new Table(schema, columns, entries.rowCount())) {
        return steps.requested().apply(numbered, context.stream(), context.resource());
      }
    }
  }

  /**
   * What the state is updated with.
   *
   * @param changes of {@link MapStateSchema#changes}, with numbers of {@code keys}, of which the
   *     last one of an entry counts; stays the caller's
   * @param keys the key columns of the batch's keys; stays the caller's
   * @return rows that the caller closes
   */
  Table updates(Table changes, Table keys) {
    try (Table named = withKeys(changes, keys, steps.changes())) {
      return steps.updates().apply(named, context.stream(), context.resource());
    }
  }

  /** Removes rows of entries that were removed, if that pays; behind an update. */
  void compact() {
    if (!expires()) {
      compaction.advance();
    }
  }

  // The key columns in the place of the number of the key.
  private Table withKeys(Table rows, Table keys, Schema schema) {
    Column keyNumbers = rows.column(MapStateSchema.KEY);
    try (Table repeated =
        Gather.gatherRepeated(keys, keyNumbers, context.stream(), context.resource())) {
      List<Column> columns = new ArrayList<>();
      repeated.columns().forEach(column -> columns.add(column.share()));
      rows.columns().subList(1, rows.columnCount()).forEach(column -> columns.add(column.share()));
      return new Table(schema, columns, rows.rowCount());
    }
  }
}
