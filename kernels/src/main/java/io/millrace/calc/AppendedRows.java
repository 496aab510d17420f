// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.HostMemoryResource;
import java.util.ArrayList;
import java.util.List;

/**
 * Appends the rows of a host result to the rows of a device result, as one table on the device to
 * gather from. Undefined rows between them keep masks aligned, and the strings of the host result
 * start at an offset that the host knows without reading lengths. Enqueued on the stream; both
 * results must stay until it has run.
 */
final class AppendedRows implements AutoCloseable {
  private final int deviceRows;
  private final int hostRows;
  private final int firstAppended;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final List<Buffer> made = new ArrayList<>();
  private final AccessScope scope;
  private final Table table;

  /**
   * @param deviceResult scalar columns on the device
   * @param hostResult table of the same schema in host memory
   * @throws GpuOutOfMemoryException if memory runs out or a column would exceed 2 GiB
   */
  AppendedRows(Table deviceResult, Table hostResult, DeviceStream stream, MemoryResource memory) {
    this.deviceRows = deviceResult.rowCount();
    this.hostRows = hostResult.rowCount();
    this.stream = stream;
    this.memory = memory;
    // The end offset of the last device row must stay.
    int padding = Column.MASK_PADDING_BYTES * Byte.SIZE;
    long first = ((long) deviceRows / padding + 1) * padding;
    if (first + hostRows >= Integer.MAX_VALUE) {
      throw new GpuOutOfMemoryException(first + hostRows + " rows do not fit one table");
    }
    this.firstAppended = (int) first;
    this.scope = AccessScope.on(stream);
    List<Column> columns = new ArrayList<>();
    try {
      for (int i = 0; i < deviceResult.columnCount(); i++) {
        columns.add(append(deviceResult.column(i), hostResult.column(i)));
        made.clear();
      }
      this.table = new Table(deviceResult.schema(), columns, firstAppended + hostRows);
    } catch (RuntimeException | Error e) {
      columns.forEach(Column::close);
      made.forEach(Buffer::close);
      scope.close();
      throw e;
    }
  }

  private Column append(Column device, Column host) {
    if (device.offset() != 0 || host.offset() != 0) {
      throw new IllegalArgumentException("results begin at their columns' first element");
    }
    DataType type = device.type();
    int rows = firstAppended + hostRows;
    Buffer mask = masks(device, host);
    if (type.id().isVariableWidth()) {
      Buffer offsets = allocate((rows + 1L) * Integer.BYTES);
      Buffer bytes = strings(device, host, offsets.access(AccessMode.WRITE, scope));
      Column ends = new Column(DataType.INT32, rows + 1, 0, offsets, null, List.of());
      return new Column(type, rows, 0, bytes, mask, List.of(ends));
    } else if (type.id() == TypeId.TIMESTAMP_NANOS) {
      List<Column> parts = new ArrayList<>();
      for (int i = 0; i < device.children().size(); i++) {
        Buffer values = values(device.child(i), host.child(i));
        parts.add(new Column(device.child(i).type(), rows, 0, values, null, List.of()));
      }
      return new Column(type, rows, 0, null, mask, parts);
    }
    return new Column(type, rows, 0, values(device, host), mask, List.of());
  }

  private Buffer allocate(long bytes) {
    Buffer buffer = Buffer.allocate(bytes, stream, memory);
    made.add(buffer);
    return buffer;
  }

  private long read(Column column) {
    return column.data().orElseThrow().access(AccessMode.READ, scope);
  }

  private Buffer values(Column device, Column host) {
    long width = device.type().id().byteWidth();
    Buffer values = allocate((firstAppended + (long) hostRows) * width);
    long address = values.access(AccessMode.WRITE, scope);
    stream.copy(address, read(device), deviceRows * width);
    stream.copy(address + firstAppended * width, read(host), hostRows * width);
    return values;
  }

  private Buffer masks(Column device, Column host) {
    if (!device.isNullable() && !host.isNullable()) {
      return null;
    }
    Buffer mask = allocate(Column.maskBytes(firstAppended + (long) hostRows));
    long address = mask.access(AccessMode.WRITE, scope);
    stream.fill(address, (byte) 0xff, mask.size());
    copyMask(device, deviceRows, address);
    copyMask(host, hostRows, address + firstAppended / Byte.SIZE);
    return mask;
  }

  private void copyMask(Column column, int rows, long target) {
    if (column.isNullable()) {
      long source = column.validity().orElseThrow().access(AccessMode.READ, scope);
      stream.copy(target, source, (rows + Byte.SIZE - 1L) / Byte.SIZE);
    }
  }

  /** Appends the bytes of the host column to the capacity of the device column. */
  private Buffer strings(Column device, Column host, long offsets) {
    long deviceBytes = device.data().orElseThrow().size();
    long hostOffsets = read(host.child(0));
    long hostBytes = HostMemory.getInt(hostOffsets + (long) hostRows * Integer.BYTES);
    if (deviceBytes + hostBytes > Integer.MAX_VALUE) {
      throw new GpuOutOfMemoryException(
          "expected at most 2 GiB of bytes in a column, got up to "
              + (deviceBytes + hostBytes)
              + " bytes, more than the 2 GiB that it holds");
    }
    stream.copy(offsets, read(device.child(0)), (deviceRows + 1L) * Integer.BYTES);
    copyShifted(offsets + (long) firstAppended * Integer.BYTES, hostOffsets, (int) deviceBytes);
    Buffer bytes = allocate(deviceBytes + hostBytes);
    long address = bytes.access(AccessMode.WRITE, scope);
    stream.copy(address, read(device), deviceBytes);
    stream.copy(address + deviceBytes, read(host), hostBytes);
    return bytes;
  }

  private void copyShifted(long target, long offsets, int shift) {
    int count = hostRows + 1;
    long size = (long) count * Integer.BYTES;
    MemoryResource host = HostMemoryResource.INSTANCE;
    try (DeviceStream hostStream = host.device().createStream();
        Buffer shifted = Buffer.allocate(size, hostStream, host)) {
      long address = shifted.access(AccessMode.WRITE, scope);
      for (long at = 0; at < size; at += Integer.BYTES) {
        HostMemory.putInt(address + at, HostMemory.getInt(offsets + at) + shift);
      }
      stream.copy(target, address, size);
    }
  }

  /** The combined table, still owned by this object. */
  Table table() {
    return table;
  }

  /** Position of the first row of the host result. */
  int firstAppended() {
    return firstAppended;
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(table::close);
    failure.run(scope::close);
    failure.rethrow();
  }
}
