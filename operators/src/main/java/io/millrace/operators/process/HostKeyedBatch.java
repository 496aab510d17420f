// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.annotation.PublicEvolving;

/**
 * A {@link KeyedBatch} in host memory, and builders of the result. Keys are known by their numbers,
 * from 0 on, in the order in which they come first in the batch.
 */
@PublicEvolving
public final class HostKeyedBatch {
  private final Table rows;
  private final ColumnReader keyNumbers;
  private final Table keys;
  private final Table state;
  private final RowTableBuilder output;
  private final RowTableBuilder newState;
  private final RowTableBuilder timers;
  private final HostEntries entries;
  private final long watermark;
  private final long processingTime;
  private final AccessScope scope;
  private final Map<Column, ColumnReader> readers = new HashMap<>();

  HostKeyedBatch(
      Table rows,
      Column keyNumbers,
      Table keys,
      Table state,
      RowTableBuilder output,
      RowTableBuilder newState,
      RowTableBuilder timers,
      HostEntries entries,
      long watermark,
      long processingTime,
      AccessScope scope) {
    this.rows = rows;
    this.keyNumbers = new ColumnReader(keyNumbers, scope);
    this.keys = keys;
    this.state = state;
    this.output = output;
    this.newState = newState;
    this.timers = timers;
    this.entries = entries;
    this.watermark = watermark;
    this.processingTime = processingTime;
    this.scope = scope;
  }

  public int rowCount() {
    return rows.rowCount();
  }

  /**
   * A column of the rows.
   *
   * @throws IllegalArgumentException if there is none with this name
   */
  public ColumnReader column(String name) {
    return reader(rows.column(name));
  }

  /** The number of distinct keys of the rows. */
  public int keyCount() {
    return keys.rowCount();
  }

  /** The number of the key of a row. */
  public int keyOf(int row) {
    return keyNumbers.getInt(row);
  }

  /**
   * A key column, read by the numbers of keys.
   *
   * @throws IllegalArgumentException if there is none with this name
   */
  public ColumnReader key(String name) {
    return reader(keys.column(name));
  }

  /**
   * The values of a state column before the batch, read by the numbers of keys; null if a key has
   * none.
   *
   * @throws IllegalArgumentException if there is none with this name
   */
  public ColumnReader state(String name) {
    return reader(state.column(name));
  }

  private ColumnReader reader(Column column) {
    return readers.computeIfAbsent(column, known -> new ColumnReader(known, scope));
  }

  /** Takes the rows of the result: append to each of its columns once per row. */
  public RowTableBuilder output() {
    return output;
  }

  /**
   * Takes the values of the state columns from now on: append to each of its columns once for each
   * key, in the order of their numbers, with null for no value; or append nothing, if no value
   * changes.
   */
  public RowTableBuilder newState() {
    return newState;
  }

  /**
   * A map of the keys of the batch.
   *
   * @throws IllegalArgumentException if {@link KeyedBatchFunction#mapStates} has none with this
   *     name
   */
  public HostMapState map(String name) {
    return entries.map(name);
  }

  /**
   * A list of the keys of the batch.
   *
   * @throws IllegalArgumentException if {@link KeyedBatchFunction#listStates} has none with this
   *     name
   */
  public HostListState list(String name) {
    return entries.list(name);
  }

  /**
   * Sets a timer of event time, if it is not set: {@link KeyedBatchFunction#onTimer} is called for
   * it when the watermark is at {@code time} or behind it.
   *
   * @param key the number of its key
   * @param time in milliseconds since the epoch
   */
  public void registerEventTimeTimer(int key, long time) {
    addTimer(key, time, false, true);
  }

  /** Deletes a timer of event time, if it is set. */
  public void deleteEventTimeTimer(int key, long time) {
    addTimer(key, time, false, false);
  }

  /** Sets a timer of processing time: likewise, when the clock of the machine is there. */
  public void registerProcessingTimeTimer(int key, long time) {
    addTimer(key, time, true, true);
  }

  /** Deletes a timer of processing time, if it is set. */
  public void deleteProcessingTimeTimer(int key, long time) {
    addTimer(key, time, true, false);
  }

  private void addTimer(int key, long time, boolean isProcessingTime, boolean isSet) {
    ((FixedWidthColumnBuilder) timers.column(0)).appendInt(key);
    ((FixedWidthColumnBuilder) timers.column(1)).appendLong(time);
    ((FixedWidthColumnBuilder) timers.column(2)).appendBoolean(isProcessingTime);
    ((FixedWidthColumnBuilder) timers.column(3)).appendBoolean(isSet);
  }

  /** As {@link KeyedBatch#watermark}. */
  public long watermark() {
    return watermark;
  }

  /** As {@link KeyedBatch#processingTime}. */
  public long processingTime() {
    return processingTime;
  }
}
