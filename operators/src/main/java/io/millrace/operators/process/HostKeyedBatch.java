// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
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
  static final Field NUMBER = new Field("$key_number", DataType.INT32, false);

  private final Table rows;
  private final ColumnReader keyNumbers;
  private final Table keys;
  private final Table state;
  private final RowTableBuilder output;
  private final RowTableBuilder newState;
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
      long watermark,
      long processingTime,
      AccessScope scope) {
    this.rows = rows;
    this.keyNumbers = new ColumnReader(keyNumbers, scope);
    this.keys = keys;
    this.state = state;
    this.output = output;
    this.newState = newState;
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

  /** As {@link KeyedBatch#watermark}. */
  public long watermark() {
    return watermark;
  }

  /** As {@link KeyedBatch#processingTime}. */
  public long processingTime() {
    return processingTime;
  }
}
