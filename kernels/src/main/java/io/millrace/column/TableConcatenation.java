// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/** Appends host tables to each other, in host memory. Used by one thread. */
@PublicEvolving
public final class TableConcatenation {
  private final DeviceStream stream;
  private final MemoryResource resource;
  private final AccessScope scope;
  private final List<Buffer> made = new ArrayList<>();

  /** Elements {@code [first, first + size)} of a column's buffers. */
  private record Part(Column column, int first, int size) {
    static Part of(Column column) {
      return new Part(column, column.offset(), column.size());
    }

    /** The elements of a child that stand beside this part's. */
    Part child(int index) {
      Column child = column.child(index);
      return new Part(child, child.offset() + first, size);
    }
  }

  private TableConcatenation(DeviceStream stream, MemoryResource resource, AccessScope scope) {
    this.stream = stream;
    this.resource = resource;
    this.scope = scope;
  }

  /**
   * The rows of {@code tables}, one after the other; the caller owns the result, and the tables are
   * still owned by the caller.
   *
   * <p>A DICTIONARY column gets the values of all dictionaries, one after the other: a value that
   * is in several is there several times.
   *
   * @param tables of {@code schema}, in host memory
   * @param stream a host stream
   * @param resource host memory
   * @throws ArithmeticException if there are more than 2^31 - 1 rows, or bytes of one column's
   *     strings, or values of one dictionary
   */
  public static Table concatenate(
      Schema schema, List<Table> tables, DeviceStream stream, MemoryResource resource) {
    try (AccessScope scope = AccessScope.on(stream)) {
      TableConcatenation concatenation = new TableConcatenation(stream, resource, scope);
      try {
        return concatenation.concatenate(schema, tables);
      } catch (RuntimeException | Error e) {
        concatenation.made.forEach(Buffer::close);
        throw e;
      }
    }
  }

  private Table concatenate(Schema schema, List<Table> tables) {
    int rows = tables.stream().mapToInt(Table::rowCount).reduce(0, Math::addExact);
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i < schema.size(); i++) {
      int index = i;
      List<Part> parts = tables.stream().map(table -> Part.of(table.column(index))).toList();
      columns.add(concatenate(schema.type(i), parts, rows));
    }
    return new Table(schema, columns, rows);
  }

  private Column concatenate(DataType type, List<Part> parts, int size) {
    Buffer mask = masks(parts, size);
    return switch (type.id()) {
      case STRING, BINARY -> {
        Column offsets = offsets(parts, size);
        yield new Column(type, size, 0, bytes(parts), mask, List.of(offsets));
      }
      case LIST -> {
        Column offsets = offsets(parts, size);
        List<Part> elements = parts.stream().map(this::elements).toList();
        Column joined =
            concatenate(
                type.childTypes().get(1), elements, elements.stream().mapToInt(Part::size).sum());
        yield new Column(type, size, 0, null, mask, List.of(offsets, joined));
      }
      case STRUCT, TIMESTAMP_NANOS -> {
        List<Column> children = new ArrayList<>();
        for (int i = 0; i < type.childTypes().size(); i++) {
          int index = i;
          List<Part> fields = parts.stream().map(part -> part.child(index)).toList();
          children.add(concatenate(type.childTypes().get(i), fields, size));
        }
        yield new Column(type, size, 0, null, mask, children);
      }
      case DICTIONARY -> {
        List<Part> values = parts.stream().map(part -> Part.of(part.column.child(0))).toList();
        int valueCount = values.stream().mapToInt(Part::size).reduce(0, Math::addExact);
        Column dictionary = concatenate(type.childTypes().get(0), values, valueCount);
        yield new Column(type, size, 0, codes(parts, size), mask, List.of(dictionary));
      }
      default -> new Column(type, size, 0, values(type, parts, size), mask, List.of());
    };
  }

  private Buffer values(DataType type, List<Part> parts, int size) {
    long width = type.id().byteWidth();
    Buffer values = allocate(size * width);
    long target = values.access(AccessMode.WRITE, scope);
    for (Part part : parts) {
      HostMemory.copy(target, dataOf(part.column) + part.first * width, part.size * width);
      target += part.size * width;
    }
    return values;
  }

  private Buffer codes(List<Part> parts, int size) {
    Buffer codes = allocate(size * (long) Integer.BYTES);
    long target = codes.access(AccessMode.WRITE, scope);
    int shift = 0;
    for (Part part : parts) {
      long source = dataOf(part.column) + part.first * (long) Integer.BYTES;
      for (int i = 0; i < part.size; i++) {
        HostMemory.putInt(target, HostMemory.getInt(source) + shift);
        source += Integer.BYTES;
        target += Integer.BYTES;
      }
      shift += part.column.child(0).size();
    }
    return codes;
  }

  private Column offsets(List<Part> parts, int size) {
    Buffer offsets = allocate((size + 1L) * Integer.BYTES);
    long target = offsets.access(AccessMode.WRITE, scope);
    HostMemory.putInt(target, 0);
    int end = 0;
    for (Part part : parts) {
      long source = offsetsOf(part);
      int shift = Math.subtractExact(end, HostMemory.getInt(source));
      end = Math.addExact(shift, HostMemory.getInt(source + part.size * (long) Integer.BYTES));
      for (int i = 0; i < part.size; i++) {
        source += Integer.BYTES;
        target += Integer.BYTES;
        HostMemory.putInt(target, HostMemory.getInt(source) + shift);
      }
    }
    return new Column(DataType.INT32, size + 1, 0, offsets, null, List.of());
  }

  private Buffer bytes(List<Part> parts) {
    List<Range> ranges = parts.stream().map(this::range).toList();
    Buffer bytes = allocate(ranges.stream().mapToLong(Range::length).sum());
    long target = bytes.access(AccessMode.WRITE, scope);
    for (int i = 0; i < parts.size(); i++) {
      Range range = ranges.get(i);
      HostMemory.copy(target, dataOf(parts.get(i).column) + range.start, range.length);
      target += range.length;
    }
    return bytes;
  }

  private Part elements(Part lists) {
    Column elements = lists.column.child(1);
    Range range = range(lists);
    return new Part(elements, elements.offset() + range.start, range.length);
  }

  /** The range of the bytes of strings or of the elements of lists. */
  private record Range(int start, int length) {}

  private Range range(Part part) {
    long offsets = offsetsOf(part);
    int start = HostMemory.getInt(offsets);
    return new Range(start, HostMemory.getInt(offsets + part.size * (long) Integer.BYTES) - start);
  }

  private long offsetsOf(Part part) {
    Column offsets = part.column.child(0);
    return dataOf(offsets) + (offsets.offset() + (long) part.first) * Integer.BYTES;
  }

  private Buffer masks(List<Part> parts, int size) {
    if (parts.stream().noneMatch(part -> part.column.isNullable())) {
      return null;
    }
    Buffer mask = allocate(Column.maskBytes(size));
    long target = mask.access(AccessMode.WRITE, scope);
    HostMemory.fill(target, mask.size(), (byte) 0xff);
    long position = 0;
    for (Part part : parts) {
      if (part.column.isNullable()) {
        long source = part.column.validity().orElseThrow().access(AccessMode.READ, scope);
        copyBits(target, position, source, part.first, part.size);
      }
      position += part.size;
    }
    return mask;
  }

  // Each whole byte of the target combines two bytes of the source; single bits are copied at the
  // ends only.
  private static void copyBits(
      long target, long targetBit, long source, long sourceBit, int count) {
    long done = 0;
    for (; done < count && (targetBit + done) % 8 != 0; done++) {
      HostMemory.putBit(target, targetBit + done, HostMemory.getBit(source, sourceBit + done));
    }
    int shift = (int) ((sourceBit + done) % 8);
    for (; count - done >= 8; done += 8) {
      long address = source + (sourceBit + done) / 8;
      int bits = (HostMemory.getByte(address) & 0xff) >>> shift;
      if (shift > 0) {
        bits |= HostMemory.getByte(address + 1) << (8 - shift);
      }
      HostMemory.putByte(target + (targetBit + done) / 8, (byte) bits);
    }
    for (; done < count; done++) {
      HostMemory.putBit(target, targetBit + done, HostMemory.getBit(source, sourceBit + done));
    }
  }

  private long dataOf(Column column) {
    return column.data().orElseThrow().access(AccessMode.READ, scope);
  }

  private Buffer allocate(long bytes) {
    Buffer buffer = Buffer.allocate(bytes, stream, resource);
    made.add(buffer);
    return buffer;
  }
}
