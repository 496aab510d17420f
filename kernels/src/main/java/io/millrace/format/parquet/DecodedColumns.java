// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/** The memory that pages are decoded into, and the columns that it becomes. Closed once. */
final class DecodedColumns implements AutoCloseable {
  private final List<ColumnPages> pages;
  private final int rows;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final List<Output> outputs = new ArrayList<>();

  /** The buffers of a column; null where it has none, or they were taken. */
  private static final class Output {
    // Of byte arrays their positions.
    private Buffer values;
    private Buffer second;
    private Buffer validity;
    private Buffer bytes;
  }

  /**
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  DecodedColumns(List<ColumnPages> pages, int rows, DeviceStream stream, MemoryResource memory) {
    this.pages = pages;
    this.rows = rows;
    this.stream = stream;
    this.memory = memory;
    try {
      for (ColumnPages column : pages) {
        allocate(column);
      }
    } catch (RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void allocate(ColumnPages pagesOfColumn) {
    FlatColumn column = pagesOfColumn.column();
    Output output = new Output();
    outputs.add(output);
    output.values = allocate((long) rows * column.width());
    if (column.hasBytes() || column.hasNanos()) {
      output.second = allocate((rows + 1L) * Integer.BYTES);
    }
    if (pagesOfColumn.nulls() > 0) {
      output.validity = allocate(Column.maskBytes(rows));
    }
  }

  private Buffer allocate(long bytes) {
    return Buffer.allocate(bytes, stream, memory);
  }

  long values(int column, AccessScope scope) {
    return outputs.get(column).values.access(AccessMode.WRITE, scope);
  }

  /** The address of offsets or nanoseconds; 0 if the column has none. */
  long second(int column, AccessScope scope) {
    Buffer second = outputs.get(column).second;
    return second == null ? 0 : second.access(AccessMode.WRITE, scope);
  }

  /** The address of the mask; 0 if the column has no nulls. */
  long validity(int column, AccessScope scope) {
    Buffer validity = outputs.get(column).validity;
    return validity == null ? 0 : validity.access(AccessMode.WRITE, scope);
  }

  /**
   * Makes room for the byte arrays of a column.
   *
   * @return the address; 0 if there are no bytes
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  long allocateBytes(int column, long bytes, AccessScope scope) {
    Output output = outputs.get(column);
    output.bytes = allocate(bytes);
    return bytes == 0 ? 0 : output.bytes.access(AccessMode.WRITE, scope);
  }

  /** The columns, which take the memory over. */
  List<Column> take() {
    List<Column> columns = new ArrayList<>();
    try {
      for (int i = 0; i < outputs.size(); i++) {
        columns.add(take(pages.get(i), outputs.get(i)));
      }
      return columns;
    } catch (RuntimeException | Error e) {
      columns.forEach(Column::close);
      throw e;
    }
  }

  private Column take(ColumnPages pagesOfColumn, Output output) {
    FlatColumn column = pagesOfColumn.column();
    Field field = column.field();
    List<Column> children = new ArrayList<>();
    Buffer data = output.values;
    if (column.hasBytes()) {
      children.add(plain(DataType.INT32, rows + 1, output.second));
      output.values.close();
      data = output.bytes;
    } else if (column.hasNanos()) {
      children.add(plain(field.type().childTypes().get(0), rows, output.values));
      children.add(plain(field.type().childTypes().get(1), rows, output.second));
      data = null;
    }
    Column taken = new Column(field.type(), rows, 0, data, output.validity, children);
    output.values = null;
    output.second = null;
    output.validity = null;
    output.bytes = null;
    return taken.withNullCount(pagesOfColumn.nulls());
  }

  private static Column plain(DataType type, int size, Buffer data) {
    return new Column(type, size, 0, data, null, List.of());
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    for (Output output : outputs) {
      for (Buffer buffer :
          new Buffer[] {output.values, output.second, output.validity, output.bytes}) {
        if (buffer != null) {
          failure.run(buffer::close);
        }
      }
    }
    failure.rethrow();
  }
}
