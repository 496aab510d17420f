// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;
import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/**
 * Columns of host memory in Arrow's layout without offsets: a node for each field, depth first, and
 * the buffers in the order that Arrow gives them. Buffers are slices of the columns' memory where
 * the layouts agree. Converted into new memory are BOOL, DECIMAL32 and DECIMAL64, masks that start
 * within a byte, and offsets that do not start at 0. A mask without a zero is left out.
 *
 * <p>Owns its buffers, which stay in their place until it is closed. Used by one thread at a time.
 */
@Internal
public final class ArrowArrays implements AutoCloseable {
  private final DeviceStream stream;
  private final MemoryResource resource;
  private final AccessScope scope;
  private final List<ArrowNode> nodes = new ArrayList<>();
  private final List<Buffer> buffers = new ArrayList<>();

  private ArrowArrays(DeviceStream stream, MemoryResource resource) {
    this.stream = stream;
    this.resource = resource;
    this.scope = AccessScope.on(stream);
  }

  /**
   * Converts the columns of {@code table} to Arrow arrays.
   *
   * @param stream a host stream
   * @param resource host memory for converted columns
   * @throws IllegalStateException if the table is in device memory
   */
  public static ArrowArrays of(Table table, DeviceStream stream, MemoryResource resource) {
    return of(table.columns(), stream, resource);
  }

  public static ArrowArrays of(List<Column> columns, DeviceStream stream, MemoryResource resource) {
    ArrowArrays arrays = new ArrowArrays(stream, resource);
    try {
      for (Column column : columns) {
        arrays.add(column, 0, column.size());
      }
      return arrays;
    } catch (RuntimeException | Error e) {
      arrays.close();
      throw e;
    }
  }

  public List<ArrowNode> nodes() {
    return nodes;
  }

  /** Still owned by this. */
  public List<Buffer> buffers() {
    return buffers;
  }

  /** The buffers' addresses, valid until this is closed. */
  public List<Long> addresses() {
    return buffers.stream().map(this::read).toList();
  }

  private void add(Column column, int start, int length) {
    int first = column.offset() + start;
    addMask(column, first, length);
    switch (column.type().id()) {
      case BOOL -> addPacked(column, first, length);
      case DECIMAL32, DECIMAL64 -> addWidened(column, first, length);
      case STRING, BINARY -> {
        Range range = addOffsets(column.child(0), first, length);
        buffers.add(column.data().orElseThrow().slice(range.first, range.length()));
      }
      case LIST -> {
        Range range = addOffsets(column.child(0), first, length);
        add(column.child(1), range.first, range.length());
      }
      case STRUCT, TIMESTAMP_NANOS -> {
        for (Column child : column.children()) {
          add(child, first, length);
        }
      }
      default -> {
        long width = column.type().id().byteWidth();
        buffers.add(column.data().orElseThrow().slice(first * width, length * width));
      }
    }
  }

  private void addMask(Column column, int first, int length) {
    int nulls = 0;
    if (column.isNullable()) {
      long mask = read(column.validity().orElseThrow());
      nulls = HostMemory.countZeroBits(mask, first, length);
    }
    nodes.add(ArrowNode.of(length, nulls));
    if (nulls == 0) {
      allocate(0);
    } else if (first % 8 == 0) {
      buffers.add(column.validity().orElseThrow().slice(first / 8, BitMask.bytes(length)));
    } else {
      long target = allocate(BitMask.bytes(length));
      BitMask.copy(target, read(column.validity().orElseThrow()), first, length);
    }
  }

  private void addPacked(Column column, int first, int length) {
    long target = allocate(BitMask.bytes(length));
    BitMask.pack(target, read(column.data().orElseThrow()) + first, length);
  }

  private void addWidened(Column column, int first, int length) {
    long target = allocate(length * (long) TypeId.DECIMAL128.byteWidth());
    long source = read(column.data().orElseThrow());
    new ArrowValues(source, column.type().id().byteWidth()).widen(target, first, length);
  }

  private record Range(int first, int end) {
    int length() {
      return end - first;
    }
  }

  private Range addOffsets(Column offsets, int first, int length) {
    Buffer data = offsets.data().orElseThrow();
    long skipped = (offsets.offset() + (long) first) * Integer.BYTES;
    long bytes = (length + 1L) * Integer.BYTES;
    long source = read(data) + skipped;
    int start = HostMemory.getInt(source);
    if (start == 0) {
      buffers.add(data.slice(skipped, bytes));
    } else {
      long target = allocate(bytes);
      for (long at = 0; at < bytes; at += Integer.BYTES) {
        HostMemory.putInt(target + at, HostMemory.getInt(source + at) - start);
      }
    }
    return new Range(start, HostMemory.getInt(source + bytes - Integer.BYTES));
  }

  private long read(Buffer buffer) {
    return buffer.access(AccessMode.READ, scope);
  }

  private long allocate(long bytes) {
    Buffer buffer = Buffer.allocate(bytes, stream, resource);
    buffers.add(buffer);
    return buffer.access(AccessMode.WRITE, scope);
  }

  @Override
  public void close() {
    scope.close();
    buffers.forEach(Buffer::close);
    buffers.clear();
  }
}
