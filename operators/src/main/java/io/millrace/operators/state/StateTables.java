// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.DeviceStream;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.StateSnapshot;
import io.millrace.state.StateTable;
import io.millrace.state.UpdateScratch;
import io.millrace.state.row.CopiedExtents;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import java.util.Collections;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.flink.annotation.Internal;

/**
 * State tables of a subtask, all with one schema. Each has a namespace, a number such as the end of
 * a slice of time. Used by one thread, except for the metrics.
 */
@Internal
public final class StateTables implements AutoCloseable {
  /** The namespace of the table of an operator that has one table. */
  public static final long ONLY = 0;

  /**
   * The time of updates of rows that stay, of a schema whose rows expire: rows of tables with other
   * namespaces than {@link #ONLY} do not expire.
   */
  public static final UpdateTime STAYS = new UpdateTime(Long.MAX_VALUE, Long.MIN_VALUE);

  private final UpdateScratch scratch;
  private final NavigableMap<Long, StateTable> tables = new ConcurrentSkipListMap<>();
  // Written by one thread.
  private volatile long expiredRows;
  private volatile CopiedExtents copiedOfClosed = CopiedExtents.NONE;
  // null if there is none; written by one thread.
  private volatile StateTable replacement;
  // The table that may hold scratch memory for the strings of values; null if none does.
  private StateTable lastUpdated;

  StateTables(StateSchema schema, DeviceStream stream, MemoryResource memory) {
    this.scratch = new UpdateScratch(schema, stream, memory, true);
  }

  public StateSchema schema() {
    return scratch.schema();
  }

  /** The tables by namespace, in ascending order; changes with this. */
  public NavigableMap<Long, StateTable> all() {
    return Collections.unmodifiableNavigableMap(tables);
  }

  /**
   * The table of a namespace, for updates; an empty one if there was none. Takes the scratch memory
   * of the table of these that was updated before if values have strings, whose scratch memory
   * tables do not share, so that one table of a state at a time holds such memory.
   */
  public StateTable forUpdate(long namespace) {
    StateTable table = tables.computeIfAbsent(namespace, absent -> newTable());
    if (schema().hasValueStrings() && lastUpdated != null && lastUpdated != table) {
      lastUpdated.releaseScratch();
    }
    lastUpdated = table;
    return table;
  }

  /**
   * An empty table that is none of these, with their schema and scratch memory; the caller closes
   * it, before these.
   */
  public StateTable newTable() {
    return new StateTable(scratch);
  }

  /** Closes the table of a namespace, if there is one. */
  public void remove(long namespace) {
    StateTable table = tables.remove(namespace);
    if (table != null) {
      forget(table);
      table.close();
    }
  }

  /**
   * Gives the table of a namespace another namespace.
   *
   * @throws IllegalStateException if {@code from} has no table, or {@code to} has one
   */
  public void move(long from, long to) {
    StateTable table = tables.remove(from);
    if (table == null || tables.putIfAbsent(to, table) != null) {
      throw new IllegalStateException("there is no table at " + from + ", or one at " + to);
    }
  }

  /**
   * Takes ownership of a table of these tables' schema.
   *
   * @throws IllegalStateException if the namespace has a table
   */
  public void put(long namespace, StateTable table) {
    if (tables.putIfAbsent(namespace, table) != null) {
      throw new IllegalStateException("there is a table at " + namespace);
    }
  }

  /** Makes an empty table that is to take the place of one of these; there is none before. */
  void beginReplacement() {
    replacement = newTable();
  }

  /** The table that is to take the place of one of these. */
  StateTable replacement() {
    return replacement;
  }

  /** Closes the {@link #replacement}, if there is one. */
  void dropReplacement() {
    if (replacement != null) {
      replacement.close();
      replacement = null;
    }
  }

  /** Puts the {@link #replacement} in the place of the table of a namespace, which is closed. */
  void replace(long namespace) {
    StateTable before = tables.put(namespace, replacement);
    replacement = null;
    forget(before);
    before.close();
  }

  /** Counts rows that were removed since they had expired. */
  void countExpired(long rows) {
    long total = expiredRows + rows;
    expiredRows = total;
  }

  /** The number of rows that were removed since they had expired. Any thread may ask. */
  long expiredRows() {
    return expiredRows;
  }

  /** The extents of tables of now and before that were copied on write. Any thread may ask. */
  CopiedExtents copied() {
    CopiedExtents all = copiedOfClosed;
    for (StateTable table : tables.values()) {
      all = all.plus(table.copied());
    }
    return all;
  }

  private void forget(StateTable table) {
    copiedOfClosed = copiedOfClosed.plus(table.copied());
    if (lastUpdated == table) {
      lastUpdated = null;
    }
  }

  /** The number of rows of all tables. Any thread may ask. */
  public long rowCount() {
    return tables.values().stream().mapToLong(StateTable::rowCount).sum();
  }

  /** The slots of the indexes of all tables, of which each row takes one. Any thread may ask. */
  long indexSlots() {
    return tables.values().stream().mapToLong(StateTable::indexSlots).sum();
  }

  /**
   * {@link StateTable#reservedBytes} of all tables, also of the {@link #replacement}. Any thread
   * may ask.
   */
  public long reservedBytes() {
    StateTable further = replacement;
    long bytes = further == null ? 0 : further.reservedBytes();
    return bytes + tables.values().stream().mapToLong(StateTable::reservedBytes).sum();
  }

  /** The rows of all tables of now; see {@link StateTable#snapshot}. */
  Snapshot snapshot() {
    Snapshot snapshot = new Snapshot(schema(), new TreeMap<>());
    try {
      tables.forEach((namespace, table) -> snapshot.tables.put(namespace, table.snapshot()));
      return snapshot;
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      failure.run(snapshot::close);
      throw e;
    }
  }

  /** The rows of tables at one moment, by namespace. */
  record Snapshot(StateSchema schema, NavigableMap<Long, StateSnapshot> tables)
      implements AutoCloseable {

    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      tables.values().forEach(table -> failure.run(table::close));
      failure.rethrow();
    }
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    tables.values().forEach(table -> failure.run(table::close));
    tables.clear();
    failure.run(this::dropReplacement);
    lastUpdated = null;
    failure.run(scratch::close);
    failure.rethrow();
  }
}
