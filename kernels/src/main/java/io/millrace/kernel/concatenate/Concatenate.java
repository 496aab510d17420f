// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.concatenate;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.PerDevice;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/** Appends tables to each other, on the device. */
@PublicEvolving
public final class Concatenate {
  private static final PerDevice<ConcatenateKernels> KERNELS =
      new PerDevice<>(host -> new HostConcatenateKernels(), CudaConcatenateKernels::new);

  private final DeviceStream stream;
  private final MemoryResource memory;
  private final AccessScope scope;
  private final ConcatenateKernels kernels;
  private final List<Buffer> made = new ArrayList<>();

  /** Elements {@code [first, first + size)} of a column's buffers. */
  private record Part(Column column, int first, int size) {
    /** The elements of a child that stand beside this part's. */
    Part child(int index) {
      Column child = column.child(index);
      return new Part(child, child.offset() + first, size);
    }
  }

  private Concatenate(DeviceStream stream, MemoryResource memory, AccessScope scope) {
    this.stream = stream;
    this.memory = memory;
    this.scope = scope;
    this.kernels = KERNELS.of(stream.device());
  }

  /**
   * The rows of {@code tables}, one after the other: makes one attempt. Enqueued; waits if there
   * are strings.
   *
   * @param schema of the result: a column may be null if it may be in one of the tables
   * @param tables with the types of {@code schema}, or none for no rows; stay the caller's
   * @throws IllegalArgumentException if a column is an ARRAY, a ROW or a DICTIONARY
   * @throws GpuOutOfMemoryException if there is too little memory for the result, or it would have
   *     2 Gi rows or more, or as many bytes of one column's strings
   */
  public static Table concatenate(
      Schema schema, List<Table> tables, DeviceStream stream, MemoryResource memory) {
    try (AccessScope scope = AccessScope.on(stream)) {
      Concatenate concatenate = new Concatenate(stream, memory, scope);
      try {
        return concatenate.table(schema, tables);
      } catch (RuntimeException | Error e) {
        FirstFailure failure = new FirstFailure();
        failure.add(e);
        concatenate.made.forEach(buffer -> failure.run(buffer::close));
        throw e;
      }
    }
  }

  private Table table(Schema schema, List<Table> tables) {
    int rows = checkedSize("rows", tables.stream().mapToLong(Table::rowCount).sum());
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i < schema.size(); i++) {
      int index = i;
      DataType type = schema.type(i);
      if (!type.id().isScalar()) {
        throw new IllegalArgumentException(
            "expected a type other than ARRAY, ROW and DICTIONARY for column '"
                + schema.field(i).name()
                + "', got "
                + type);
      }
      List<Part> parts =
          tables.stream()
              .map(table -> table.column(index))
              .filter(column -> column.size() > 0)
              .map(column -> new Part(column, column.offset(), column.size()))
              .toList();
      columns.add(column(type, parts, rows));
    }
    return new Table(schema, columns, rows);
  }

  private Column column(DataType type, List<Part> parts, int size) {
    Buffer mask = mask(parts, size);
    return switch (type.id()) {
      case STRING, BINARY -> strings(type, parts, size, mask);
      case TIMESTAMP_NANOS -> {
        List<Column> children = new ArrayList<>();
        for (int i = 0; i < type.childTypes().size(); i++) {
          int index = i;
          DataType childType = type.childTypes().get(i);
          List<Part> childParts = parts.stream().map(part -> part.child(index)).toList();
          Buffer values = values(childType, childParts, size);
          children.add(new Column(childType, size, 0, values, null, List.of()));
        }
        yield new Column(type, size, 0, null, mask, children);
      }
      default -> new Column(type, size, 0, values(type, parts, size), mask, List.of());
    };
  }

  private Buffer values(DataType type, List<Part> parts, int size) {
    long width = type.id().byteWidth();
    Buffer values = allocate(size * width);
    long target = values.access(AccessMode.WRITE, scope);
    for (Part part : parts) {
      stream.copy(target, data(part.column) + part.first * width, part.size * width);
      target += part.size * width;
    }
    return values;
  }

  private Buffer mask(List<Part> parts, int size) {
    if (parts.stream().noneMatch(part -> part.column.isNullable())) {
      return null;
    }
    Buffer mask = allocate(Column.maskBytes(size));
    long target = mask.access(AccessMode.WRITE, scope);
    stream.fill(target, (byte) 0, mask.size());
    long bit = 0;
    for (Part part : parts) {
      long source =
          part.column.validity().map(bits -> bits.access(AccessMode.READ, scope)).orElse(0L);
      kernels.bits(target, bit, source, part.first, part.size, stream);
      bit += part.size;
    }
    return mask;
  }

  private Column strings(DataType type, List<Part> parts, int size, Buffer mask) {
    int[] bounds = bounds(parts);
    Buffer offsets = allocate((size + 1L) * Integer.BYTES);
    long target = offsets.access(AccessMode.WRITE, scope);
    stream.fill(target, (byte) 0, Integer.BYTES);
    int bytes = 0;
    for (int i = 0; i < parts.size(); i++) {
      Part part = parts.get(i);
      kernels.offsets(target, offsets(part), bytes - bounds[2 * i], part.size + 1, stream);
      target += (long) part.size * Integer.BYTES;
      bytes = checkedSize("bytes of strings", (long) bytes + bounds[2 * i + 1] - bounds[2 * i]);
    }
    Buffer joined = allocate(bytes);
    long place = bytes == 0 ? 0 : joined.access(AccessMode.WRITE, scope);
    for (int i = 0; i < parts.size(); i++) {
      int length = bounds[2 * i + 1] - bounds[2 * i];
      if (length > 0) {
        stream.copy(place, data(parts.get(i).column) + bounds[2 * i], length);
        place += length;
      }
    }
    Column offsetColumn = new Column(DataType.INT32, size + 1, 0, offsets, null, List.of());
    return new Column(type, size, 0, joined, mask, List.of(offsetColumn));
  }

  private static int checkedSize(String what, long size) {
    if (size > Integer.MAX_VALUE) {
      throw new GpuOutOfMemoryException(
          "expected fewer than 2 Gi " + what + " in a table, got at least " + size);
    }
    return (int) size;
  }

  // The first and the last offset of each part.
  private int[] bounds(List<Part> parts) {
    int[] bounds = new int[2 * parts.size()];
    if (parts.isEmpty()) {
      return bounds;
    }
    long bytes = (long) bounds.length * Integer.BYTES;
    try (StagingBuffer read = stream.device().stagingPool().acquire(bytes)) {
      read.enqueue(stream, () -> copyBounds(parts, read.address()));
      stream.synchronize();
      for (int i = 0; i < bounds.length; i++) {
        bounds[i] = HostMemory.getInt(read.address() + (long) i * Integer.BYTES);
      }
    }
    return bounds;
  }

  private void copyBounds(List<Part> parts, long to) {
    for (int i = 0; i < parts.size(); i++) {
      long offsets = offsets(parts.get(i));
      long end = offsets + (long) parts.get(i).size * Integer.BYTES;
      long place = to + 2L * i * Integer.BYTES;
      stream.copy(place, offsets, Integer.BYTES);
      stream.copy(place + Integer.BYTES, end, Integer.BYTES);
    }
  }

  private long offsets(Part strings) {
    Part offsets = strings.child(0);
    return data(offsets.column) + (long) offsets.first * Integer.BYTES;
  }

  private long data(Column column) {
    return column.data().orElseThrow().access(AccessMode.READ, scope);
  }

  private Buffer allocate(long bytes) {
    Buffer buffer = Buffer.allocate(bytes, stream, memory);
    made.add(buffer);
    return buffer;
  }
}
