package io.millrace.column;

import io.millrace.device.DeviceStream;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.Splittable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * Columns of equal size under a schema. A table owns its columns and is closed once by whoever
 * holds it. Immutable.
 */
public final class Table implements Splittable<Table> {
  private final Schema schema;
  private final List<Column> columns;
  private final int rowCount;

  /**
   * Takes ownership of {@code columns}.
   *
   * @param rowCount rows of the table, which a table without columns has too
   * @throws IllegalArgumentException if the columns do not fit the schema or the row count
   */
  public Table(Schema schema, List<Column> columns, int rowCount) {
    this.schema = schema;
    this.columns = List.copyOf(columns);
    this.rowCount = rowCount;
    if (columns.size() != schema.size()) {
      throw new IllegalArgumentException(columns.size() + " columns for the schema " + schema);
    }
    for (int i = 0; i < columns.size(); i++) {
      Column column = columns.get(i);
      if (!column.type().equals(schema.type(i)) || column.size() != rowCount) {
        throw new IllegalArgumentException(
            "column '"
                + schema.field(i).name()
                + "' is "
                + column
                + ", not "
                + schema.type(i)
                + "["
                + rowCount
                + "]");
      }
    }
  }

  public Schema schema() {
    return schema;
  }

  public int columnCount() {
    return columns.size();
  }

  /** The column at {@code index}, still owned by this table. */
  public Column column(int index) {
    return columns.get(index);
  }

  /**
   * The column with this name, still owned by this table.
   *
   * @throws IllegalArgumentException if there is none
   */
  public Column column(String name) {
    return columns.get(schema.indexOf(name));
  }

  /** All columns, still owned by this table. */
  public List<Column> columns() {
    return columns;
  }

  /** Exact number of rows. May wait for the device when only that knows it. */
  public int rowCount() {
    return rowCount;
  }

  /** No fewer than {@link #rowCount}; never waits. Allocate by this. */
  public int rowCountUpperBound() {
    return rowCount;
  }

  /** Bytes of all buffers of the table, with what slices leave unused. */
  public long sizeInBytes() {
    return columns.stream().mapToLong(Table::sizeInBytes).sum();
  }

  private static long sizeInBytes(Column column) {
    return column.data().map(data -> data.size()).orElse(0L)
        + column.validity().map(mask -> mask.size()).orElse(0L)
        + column.children().stream().mapToLong(Table::sizeInBytes).sum();
  }

  /**
   * Rows {@code [start, start + rows)} as a new table over the same memory.
   *
   * @throws IndexOutOfBoundsException if the range is not within this table
   */
  public Table slice(int start, int rows) {
    return derive(schema, columns, rows, column -> column.slice(start, rows));
  }

  /** The rows in two slices over the same memory, or none if there are fewer than two. */
  @Override
  public List<Table> halves() {
    if (rowCount < 2) {
      return List.of();
    }
    int half = rowCount / 2;
    return List.of(slice(0, half), slice(half, rowCount - half));
  }

  /** A new table over the same memory, which whoever holds it reads. */
  public Table share() {
    return slice(0, rowCount);
  }

  /** The columns with these names, in this order, as a new table over the same memory. */
  public Table select(List<String> names) {
    List<Column> selected = names.stream().map(this::column).toList();
    return derive(schema.select(names), selected, rowCount, Column::share);
  }

  /** As {@link Column#copyTo}, for all columns. */
  public Table copyTo(MemoryResource target, DeviceStream targetStream, DeviceStream stream) {
    return derive(schema, columns, rowCount, column -> column.copyTo(target, targetStream, stream));
  }

  /** As {@link Column#shallowCopy}, for all columns. */
  public Table shallowCopy(DeviceStream stream) {
    return derive(schema, columns, rowCount, column -> column.shallowCopy(stream));
  }

  /** As {@link Column#deepCopy}, for all columns. */
  public Table deepCopy(DeviceStream stream) {
    return derive(schema, columns, rowCount, column -> column.deepCopy(stream));
  }

  /** A table of a new column for each of {@code sources}; if one fails, the others are closed. */
  private static Table derive(
      Schema schema, List<Column> sources, int rowCount, UnaryOperator<Column> columns) {
    List<Column> derived = new ArrayList<>(sources.size());
    try {
      for (Column source : sources) {
        derived.add(columns.apply(source));
      }
      return new Table(schema, derived, rowCount);
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      close(derived, failure);
      throw e;
    }
  }

  /** The columns under their names, for selection. The table still owns them. */
  public ColumnAccessor accessor() {
    ColumnAccessor accessor = new ColumnAccessor(1);
    IntStream.range(0, columns.size())
        .forEach(i -> accessor.put(ColumnLabel.of(schema.field(i).name()), columns.get(i)));
    return accessor;
  }

  /** Closes every column, whatever fails, and then throws what failed first. */
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    close(columns, failure);
    failure.rethrow();
  }

  private static void close(List<Column> columns, FirstFailure failure) {
    columns.forEach(column -> failure.run(column::close));
  }

  @Override
  public String toString() {
    return schema + "[" + rowCount + "]";
  }
}
