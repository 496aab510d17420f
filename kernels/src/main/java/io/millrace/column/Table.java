// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.retry.Splittable;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * Columns of equal size under a schema. A table owns its columns; its holder closes it once.
 * Immutable and thread-safe.
 *
 * <p>The row count may be known on the device only. The columns then have {@link
 * #rowCountUpperBound} elements, which are undefined from the row count on. A method that needs the
 * row count waits for it once; methods that never wait say so.
 */
@PublicEvolving
public final class Table implements Splittable<Table> {
  private final Schema schema;
  private final List<Column> upperBoundColumns;
  private final int rowCountUpperBound;
  // null if the host knew the row count from the start.
  private final DeferredRowCount deferredRowCount;
  // null until the row count is known; over the buffers of the upper bound's columns.
  private volatile List<Column> columns;

  /**
   * Takes ownership of {@code columns}. If this throws, the caller still owns them.
   *
   * @param rowCount number of rows, also of a table without columns
   * @throws IllegalArgumentException if the columns do not fit the schema or the row count, or if a
   *     NOT NULL column is known to have nulls
   */
  public Table(Schema schema, List<Column> columns, int rowCount) {
    this(schema, columns, rowCount, null);
  }

  /**
   * A table whose columns are made one after the other. If one fails, those before it are closed.
   *
   * @param columns makes the column at a position; the table takes ownership
   * @throws IllegalArgumentException as the constructor does
   */
  public static Table of(Schema schema, int rowCount, IntFunction<Column> columns) {
    List<Column> made = new ArrayList<>();
    try {
      for (int i = 0; i < schema.size(); i++) {
        made.add(columns.apply(i));
      }
      return new Table(schema, made, rowCount);
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      close(made, null, failure);
      throw e;
    }
  }

  /**
   * Takes ownership of {@code columns} and of one use of {@code rowCount}. If this throws, the
   * caller still owns both.
   *
   * @param columns columns with as many elements as the upper bound of {@code rowCount}, the
   *     table's rows first
   * @throws IllegalArgumentException if the columns do not fit the schema or the upper bound
   */
  public Table(Schema schema, List<Column> columns, DeferredRowCount rowCount) {
    this(schema, columns, rowCount.upperBound(), rowCount);
  }

  private Table(
      Schema schema, List<Column> columns, int rowCountUpperBound, DeferredRowCount rowCount) {
    this.schema = schema;
    this.upperBoundColumns = List.copyOf(columns);
    this.rowCountUpperBound = rowCountUpperBound;
    this.deferredRowCount = rowCount;
    this.columns = rowCount == null ? upperBoundColumns : null;
    checkFit();
  }

  private void checkFit() {
    if (upperBoundColumns.size() != schema.size()) {
      throw new IllegalArgumentException(
          "expected a column for each field of " + schema + ", got " + upperBoundColumns.size());
    }
    for (int i = 0; i < schema.size(); i++) {
      Column column = upperBoundColumns.get(i);
      if (!column.type().equals(schema.type(i)) || column.size() != rowCountUpperBound) {
        throw new IllegalArgumentException(
            "expected "
                + schema.type(i)
                + "["
                + rowCountUpperBound
                + "] for column '"
                + schema.field(i).name()
                + "', got "
                + column);
      }
      checkNulls(schema.field(i), column);
    }
  }

  // Never counts: that would wait for the device. Undefined rows after a deferred count may be
  // counted as nulls.
  private void checkNulls(DataType.Field field, Column column) {
    int nulls = deferredRowCount == null ? column.knownNullCount() : 0;
    if (nulls > 0 && !field.nullable()) {
      throw new IllegalArgumentException(
          "column '" + field.name() + "' is NOT NULL and has " + nulls + " nulls");
    }
  }

  public Schema schema() {
    return schema;
  }

  public int columnCount() {
    return schema.size();
  }

  /** The column at {@code index}, still owned by this table. May wait for the device. */
  public Column column(int index) {
    return columns().get(index);
  }

  /**
   * The column with this name, still owned by this table. May wait for the device.
   *
   * @throws IllegalArgumentException if there is none
   */
  public Column column(String name) {
    return columns().get(schema.indexOf(name));
  }

  /**
   * All columns, of {@link #rowCount} elements, still owned by this table. May wait for the device.
   */
  public List<Column> columns() {
    if (columns == null) {
      int rows = deferredRowCount.get();
      columns = upperBoundColumns.stream().map(column -> column.first(rows)).toList();
    }
    return columns;
  }

  /** Exact number of rows. Waits for the device if only the device knows it. */
  public int rowCount() {
    return deferredRowCount == null ? rowCountUpperBound : deferredRowCount.get();
  }

  /** Whether {@link #rowCount} and all that needs it do not wait. Never waits. */
  public boolean isRowCountKnown() {
    return deferredRowCount == null || deferredRowCount.isKnown();
  }

  /** No fewer than {@link #rowCount}; never waits. Allocate by this. */
  public int rowCountUpperBound() {
    return rowCountUpperBound;
  }

  /**
   * All columns, of {@link #rowCountUpperBound} elements, still owned by this table. Never waits.
   */
  public List<Column> upperBoundColumns() {
    return upperBoundColumns;
  }

  /**
   * The row count as work on the device reads it, an INT32, still owned by this table; empty if it
   * is the upper bound. Never waits.
   */
  public Optional<Buffer> deviceRowCount() {
    return Optional.ofNullable(deferredRowCount).map(DeferredRowCount::deviceCount);
  }

  /** Bytes of all buffers of the table, with what slices leave unused. */
  public long sizeInBytes() {
    return upperBoundColumns.stream().mapToLong(Table::sizeInBytes).sum();
  }

  private static long sizeInBytes(Column column) {
    return column.data().map(data -> data.size()).orElse(0L)
        + column.validity().map(mask -> mask.size()).orElse(0L)
        + column.children().stream().mapToLong(Table::sizeInBytes).sum();
  }

  /**
   * Rows {@code [start, start + rows)} as a new table over the same memory. May wait for the
   * device.
   *
   * @throws IndexOutOfBoundsException if the range is not within this table
   */
  public Table slice(int start, int rows) {
    return derive(schema, columns(), rows, null, column -> column.slice(start, rows));
  }

  /**
   * The rows in two slices over the same memory, or none if there are fewer than two. May wait for
   * the device.
   */
  @Override
  public List<Table> halves() {
    int rows = rowCount();
    if (rows < 2) {
      return List.of();
    }
    int half = rows / 2;
    return List.of(slice(0, half), slice(half, rows - half));
  }

  /** A new table over the same memory, for reading. Never waits. */
  public Table share() {
    return deriveUpperBound(schema, upperBoundColumns, Column::share);
  }

  /**
   * A new table of other columns, for the rows of this one. Takes ownership of {@code newColumns}.
   * Never waits.
   *
   * @param newColumns of {@link #rowCountUpperBound} elements, which are closed if they do not fit
   */
  public Table withColumns(Schema newSchema, List<Column> newColumns) {
    return deriveUpperBound(newSchema, newColumns, UnaryOperator.identity());
  }

  /**
   * The columns with these names, in this order, as a new table over the same memory. Never waits.
   */
  public Table select(List<String> names) {
    List<Column> selected =
        names.stream().map(name -> upperBoundColumns.get(schema.indexOf(name))).toList();
    return deriveUpperBound(schema.select(names), selected, Column::share);
  }

  /** As {@link Column#copyTo}, for all columns. May wait for the device. */
  public Table copyTo(MemoryResource target, DeviceStream targetStream, DeviceStream stream) {
    try (AccessScope scope = AccessScope.on(stream)) {
      return derive(
          schema,
          columns(),
          rowCount(),
          null,
          column -> column.copyTo(target, targetStream, scope));
    }
  }

  /** As {@link Column#shallowCopy}, for all columns. Never waits. */
  public Table shallowCopy(DeviceStream stream) {
    return deriveUpperBound(schema, upperBoundColumns, column -> column.shallowCopy(stream));
  }

  /** As {@link Column#deepCopy}, for all columns. Never waits. */
  public Table deepCopy(DeviceStream stream) {
    return deriveUpperBound(schema, upperBoundColumns, column -> column.deepCopy(stream));
  }

  private Table deriveUpperBound(
      Schema newSchema, List<Column> sources, UnaryOperator<Column> newColumns) {
    return derive(newSchema, sources, rowCountUpperBound, deferredRowCount, newColumns);
  }

  /** A table of a new column for each of {@code sources}; if one fails, the others are closed. */
  private static Table derive(
      Schema schema,
      List<Column> sources,
      int rowCountUpperBound,
      DeferredRowCount rowCount,
      UnaryOperator<Column> columns) {
    List<Column> derived = new ArrayList<>(sources.size());
    DeferredRowCount retained = rowCount == null ? null : rowCount.retain();
    try {
      for (Column source : sources) {
        derived.add(columns.apply(source));
      }
      return new Table(schema, derived, rowCountUpperBound, retained);
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      close(derived, retained, failure);
      throw e;
    }
  }

  /**
   * The columns under their names, for selection. The table still owns them. May wait for the
   * device.
   */
  public ColumnAccessor accessor() {
    ColumnAccessor accessor = new ColumnAccessor(1);
    IntStream.range(0, schema.size())
        .forEach(i -> accessor.put(ColumnLabel.of(schema.field(i).name()), column(i)));
    return accessor;
  }

  /** Closes every column, whatever fails, and then throws what failed first. */
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    close(upperBoundColumns, deferredRowCount, failure);
    failure.rethrow();
  }

  private static void close(List<Column> columns, DeferredRowCount rowCount, FirstFailure failure) {
    columns.forEach(column -> failure.run(column::close));
    if (rowCount != null) {
      failure.run(rowCount::close);
    }
  }

  @Override
  public String toString() {
    return schema + (columns == null ? "[<= " + rowCountUpperBound : "[" + rowCount()) + "]";
  }
}
