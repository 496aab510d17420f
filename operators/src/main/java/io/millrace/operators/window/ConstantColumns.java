// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.ConstantColumn;
import java.util.List;
import java.util.stream.Stream;

/** Columns with one value in all rows, behind the columns of a table. */
final class ConstantColumns {
  private ConstantColumns() {}

  /**
   * A table with {@code constants} behind the columns of {@code rows}: makes one attempt. Waits.
   *
   * @param rows stays the caller's
   */
  static Table append(
      Table rows, List<ConstantColumn> constants, DeviceStream stream, MemoryResource memory) {
    try (Table columns = repeat(constants, rows.rowCount(), stream, memory)) {
      int first = rows.columnCount();
      Schema schema =
          new Schema(
              Stream.concat(rows.schema().fields().stream(), columns.schema().fields().stream())
                  .toList());
      return Table.of(
          schema,
          rows.rowCount(),
          i -> (i < first ? rows.column(i) : columns.column(i - first)).share());
    }
  }

  private static Table repeat(
      List<ConstantColumn> constants, int rows, DeviceStream stream, MemoryResource memory) {
    try (Table row = row(constants, stream, memory);
        Column firstRows = firstRows(rows, stream, memory)) {
      return Gather.gather(row, firstRows, stream, memory);
    }
  }

  private static Table row(
      List<ConstantColumn> constants, DeviceStream stream, MemoryResource memory) {
    long bytes = (long) constants.size() * Long.BYTES;
    try (StagingBuffer values = stream.device().stagingPool().acquire(bytes)) {
      for (int i = 0; i < constants.size(); i++) {
        HostMemory.putLong(values.address() + (long) i * Long.BYTES, constants.get(i).value());
      }
      try (Buffer buffer = Buffer.copyOf(values.address(), bytes, stream, memory)) {
        stream.synchronize();
        List<Field> fields = constants.stream().map(ConstantColumn::field).toList();
        return Table.of(
            new Schema(fields),
            1,
            i -> {
              Buffer value = buffer.slice((long) i * Long.BYTES, Long.BYTES);
              return new Column(fields.get(i).type(), 1, 0, value, null, List.of());
            });
      }
    }
  }

  private static Column firstRows(int rows, DeviceStream stream, MemoryResource memory) {
    long bytes = (long) rows * Integer.BYTES;
    try (Buffer numbers = Buffer.allocate(bytes, stream, memory);
        AccessScope scope = AccessScope.on(stream)) {
      stream.fill(numbers.access(AccessMode.WRITE, scope), (byte) 0, bytes);
      return new Column(DataType.INT32, rows, 0, numbers.slice(0, bytes), null, List.of());
    }
  }
}
