// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType.Field;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/**
 * Builds tables of one schema in host memory row by row: append to every {@link #column} once per
 * row, then {@link #finish}. The builder can then build the next table. Used by one thread.
 *
 * <p>After an exception the columns may differ in size; the builder can then only be {@linkplain
 * #truncate truncated} or closed.
 */
@PublicEvolving
public final class RowTableBuilder implements AutoCloseable {
  private final Schema schema;
  private final DeviceStream stream;
  private final List<ColumnBuilder> columns;
  private final ColumnBuilder[] columnsOfVaryingWidth;
  private final long fixedBytesPerRow;

  /**
   * @param stream a host stream, which must stay open as long as the tables built
   * @param resource ordinary or pinned host memory
   */
  public RowTableBuilder(Schema schema, DeviceStream stream, MemoryResource resource) {
    this.schema = schema;
    this.stream = stream;
    this.columns =
        schema.fields().stream()
            .map(field -> ColumnBuilder.of(field.type(), stream, resource))
            .toList();
    this.columnsOfVaryingWidth =
        columns.stream()
            .filter(column -> !column.type().id().isFixedWidth())
            .toArray(ColumnBuilder[]::new);
    this.fixedBytesPerRow =
        schema.fields().stream().map(Field::type).mapToInt(type -> type.id().byteWidth()).sum();
  }

  public Schema schema() {
    return schema;
  }

  public ColumnBuilder column(int index) {
    return columns.get(index);
  }

  public List<ColumnBuilder> columns() {
    return columns;
  }

  /** Bytes that the {@code rows} rows appended so far take without their masks. */
  public long sizeInBytes(int rows) {
    long bytes = rows * fixedBytesPerRow;
    for (ColumnBuilder column : columnsOfVaryingWidth) {
      bytes += column.sizeInBytes();
    }
    return bytes;
  }

  /** Removes all elements after the first {@code rows} rows, which all columns have. */
  public void truncate(int rows) {
    columns.forEach(column -> column.truncate(rows));
  }

  /**
   * The table of all rows appended; the caller owns it. If it runs out of memory, the builder is
   * unchanged.
   *
   * @param rows the number of rows appended
   * @throws IllegalArgumentException if a column has another number of elements, or if it, or a
   *     part of it, is NOT NULL and a null was appended to it; the rows are lost
   */
  public Table finish(int rows) {
    columns.forEach(ColumnBuilder::reserve);
    List<Column> finished = new ArrayList<>();
    try {
      for (ColumnBuilder column : columns) {
        finished.add(column.finish());
      }
      checkNulls(finished);
      return new Table(schema, finished, rows);
    } catch (RuntimeException | Error e) {
      finished.forEach(Column::close);
      throw e;
    }
  }

  private void checkNulls(List<Column> finished) {
    try (AccessScope scope = AccessScope.on(stream)) {
      NotNullCheck.failure(
              schema.fields(), finished, buffer -> buffer.access(AccessMode.READ, scope))
          .ifPresent(
              failure -> {
                throw new IllegalArgumentException(failure);
              });
    }
  }

  /** Frees the rows that are not finished. */
  @Override
  public void close() {
    columns.forEach(ColumnBuilder::close);
  }
}
