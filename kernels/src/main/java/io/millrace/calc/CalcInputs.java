// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.calc.CalcProgram.InputWord;
import io.millrace.calc.CalcProgram.Word;
import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.device.StagingBuffer;
import io.millrace.expression.typed.InputPath;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Addresses and sizes of the columns that one run of a generated kernel reads. */
final class CalcInputs {
  private final CalcProgram program;
  private final Table table;
  private final AccessScope scope;
  private final Map<InputPath, ByteRange> ranges = new HashMap<>();
  private int rows;

  /** The byte range of a column's rows, or a larger range if it is not exact. */
  private record ByteRange(long begin, long end, boolean isExact) {}

  /**
   * Memory sizes for a bound.
   *
   * @param bytes maximum number of bytes of all rows
   * @param bytesPerRow maximum number of bytes of one row
   * @param bytesBefore offset of the first row's bytes, relative to a table whose columns have no
   *     bytes before their first row
   */
  record Size(long bytes, long bytesPerRow, long bytesBefore) {}

  CalcInputs(CalcProgram program, Table table, AccessScope scope) {
    this.program = program;
    this.table = table;
    this.scope = scope;
    this.rows = table.rowCountUpperBound();
  }

  /** Writes the addresses of the input memory, which is accessed from now on. */
  void put(KernelArguments arguments) {
    arguments.putLong(Word.ROWS.offset(), table.rowCountUpperBound());
    table
        .deviceRowCount()
        .ifPresent(count -> arguments.putLong(Word.DEVICE_ROWS.offset(), read(count)));
    for (int i = 0; i < program.inputs().size(); i++) {
      put(i, location(program.inputs().get(i)), arguments);
    }
  }

  private InputPath.Location location(InputPath path) {
    return path.in(table.upperBoundColumns());
  }

  private void put(int index, InputPath.Location location, KernelArguments arguments) {
    Column column = location.column();
    int first = location.firstElement();
    TypeId id = column.type().id();
    if (id.isVariableWidth()) {
      put(arguments, index, InputWord.DATA, read(column.data().orElseThrow()));
      put(arguments, index, InputWord.SECOND_PART, elements(column.child(0), first));
    } else if (id == TypeId.TIMESTAMP_NANOS) {
      put(arguments, index, InputWord.DATA, elements(column.child(0), first));
      put(arguments, index, InputWord.SECOND_PART, elements(column.child(1), first));
    } else if (id.isFixedWidth()) {
      put(arguments, index, InputWord.DATA, elements(column, location.firstRow()));
    }
    column
        .validity()
        .ifPresent(
            mask -> {
              put(arguments, index, InputWord.VALIDITY, read(mask));
              put(arguments, index, InputWord.BIT_OFFSET, first);
            });
  }

  private static void put(KernelArguments arguments, int input, InputWord word, long value) {
    arguments.putLong(CalcProgram.inputOffset(input, word), value);
  }

  private long elements(Column column, long first) {
    long width = column.type().id().byteWidth();
    return read(column.data().orElseThrow()) + (column.offset() + first) * width;
  }

  private long read(Buffer buffer) {
    return buffer.access(AccessMode.READ, scope);
  }

  /**
   * Computes the memory sizes for {@code bound}. Uses the buffer sizes as the number of bytes,
   * unless a buffer also holds other rows or the result would not fit a column. In these cases,
   * waits for the device to read the offsets.
   */
  Size size(RowSizeLimit bound) {
    for (InputPath path : bound.factors().keySet()) {
      ranges.computeIfAbsent(path, key -> new ByteRange(0, dataBytes(key), false));
    }
    if (isShared(bound) || bytes(bound, rows) > Integer.MAX_VALUE) {
      measure(bound);
    }
    return new Size(bytes(bound, rows), bytes(bound, Math.min(rows, 1)), bytesBefore(bound));
  }

  private long dataBytes(InputPath path) {
    return location(path).column().data().orElseThrow().size();
  }

  private boolean isShared(RowSizeLimit bound) {
    return bound.factors().keySet().stream()
        .map(this::location)
        .anyMatch(
            location ->
                location.firstElement() > 0
                    || location.column().child(0).size() > location.rows() + 1);
  }

  private void measure(RowSizeLimit bound) {
    rows = table.rowCount();
    List<InputPath> unknown =
        bound.factors().keySet().stream().filter(path -> !ranges.get(path).isExact).toList();
    if (!unknown.isEmpty()) {
      measure(unknown);
    }
  }

  /** Reads the byte ranges of columns from the device and waits. */
  private void measure(List<InputPath> columns) {
    DeviceStream stream = scope.stream();
    long pair = 2 * Integer.BYTES;
    try (StagingBuffer bounds = stream.device().stagingPool().acquire(columns.size() * pair)) {
      for (int i = 0; i < columns.size(); i++) {
        InputPath.Location location = location(columns.get(i));
        long first = elements(location.column().child(0), location.firstElement());
        long last = first + (long) rows * Integer.BYTES;
        stream.copy(bounds.address() + i * pair, first, Integer.BYTES);
        stream.copy(bounds.address() + i * pair + Integer.BYTES, last, Integer.BYTES);
      }
      try (DeviceEvent copied = stream.recordEvent()) {
        copied.synchronize();
      }
      for (int i = 0; i < columns.size(); i++) {
        int begin = HostMemory.getInt(bounds.address() + i * pair);
        int end = HostMemory.getInt(bounds.address() + i * pair + Integer.BYTES);
        ranges.put(columns.get(i), new ByteRange(begin, end, true));
      }
    }
  }

  private long bytes(RowSizeLimit bound, int ofRows) {
    return bound.bytes(ofRows, path -> ranges.get(path).end - ranges.get(path).begin);
  }

  // Wraps around like the addresses in the kernel.
  private long bytesBefore(RowSizeLimit bound) {
    return bound.factors().entrySet().stream()
        .mapToLong(factor -> ranges.get(factor.getKey()).begin * factor.getValue())
        .sum();
  }
}
