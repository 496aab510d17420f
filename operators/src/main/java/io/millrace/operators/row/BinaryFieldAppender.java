// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.ListColumnBuilder;
import io.millrace.column.StructColumnBuilder;
import io.millrace.column.VariableWidthColumnBuilder;
import io.millrace.device.HostMemory;
import java.util.Objects;
import org.apache.flink.core.memory.MemorySegment;

/**
 * Appends one non-null field of a row, or element of an array, in Flink's binary format to one
 * column.
 *
 * <p>A slot has one of three forms: the value itself; the offset of the value's bytes from {@code
 * base} in the upper 32 bits and their number in the lower 32 bits (for a timestamp, the
 * nanoseconds of the millisecond); or up to seven bytes, with their number and a mark bit in the
 * top byte.
 */
@FunctionalInterface
interface BinaryFieldAppender {
  /**
   * Appends the field whose slot is at {@code slot}.
   *
   * @param base the offset of the row or array in {@code segment}
   * @param slot the offset of the slot of the field or element in {@code segment}
   */
  void append(MemorySegment segment, int base, int slot);

  static BinaryFieldAppender of(ColumnBuilder builder) {
    if (builder instanceof FixedWidthColumnBuilder column) {
      return fixedWidth(column);
    }
    if (builder instanceof VariableWidthColumnBuilder column) {
      return (segment, base, slot) -> appendBytes(column, segment, base, slot);
    }
    if (builder instanceof ListColumnBuilder column) {
      return column.type().isMap() ? map(column) : list(column);
    }
    StructColumnBuilder column = (StructColumnBuilder) builder;
    return switch (column.type().id()) {
      case TIMESTAMP_NANOS -> timestampNanos(column);
      default -> struct(column);
    };
  }

  // Little-endian: the first bytes of a slot are the lowest.
  private static BinaryFieldAppender fixedWidth(FixedWidthColumnBuilder column) {
    return switch (column.type().id()) {
      case BOOL, INT8 -> (segment, base, slot) -> column.appendByte(segment.get(slot));
      case INT16 -> (segment, base, slot) -> column.appendShort(segment.getShort(slot));
      case INT32, FLOAT32, DATE, TIME, DECIMAL32 ->
          (segment, base, slot) -> column.appendInt(segment.getInt(slot));
      case INT64, FLOAT64, DECIMAL64, TIMESTAMP_MILLIS ->
          (segment, base, slot) -> column.appendLong(segment.getLong(slot));
      case TIMESTAMP_MICROS ->
          (segment, base, slot) -> {
            long millis = segment.getLong(base + segment.getInt(slot + Integer.BYTES));
            column.appendLong(GetterFieldAppender.microseconds(millis, segment.getInt(slot)));
          };
      case DECIMAL128 ->
          (segment, base, slot) -> {
            byte[] bigEndian = new byte[segment.getInt(slot)];
            segment.get(base + segment.getInt(slot + Integer.BYTES), bigEndian);
            Decimal128.append(column, bigEndian);
          };
      default ->
          throw new IllegalArgumentException("no field of a row has the type " + column.type());
    };
  }

  private static void appendBytes(
      VariableWidthColumnBuilder column, MemorySegment segment, int base, int slot) {
    long word = segment.getLong(slot);
    if (word < 0) {
      appendInline(column, word);
      return;
    }
    int start = base + (int) (word >>> 32);
    int size = (int) word;
    Objects.checkFromIndexSize(start, size, segment.size());
    if (segment.isOffHeap()) {
      long target = column.appendUninitialized(size);
      HostMemory.copy(target, segment.getAddress() + start, size);
    } else {
      column.appendBytes(segment.getArray(), start, size);
    }
  }

  private static void appendInline(VariableWidthColumnBuilder column, long word) {
    int length = (int) (word >>> 56) & 0x7f;
    long target = column.appendUninitialized(length);
    for (int i = 0; i < length; i++) {
      HostMemory.putByte(target + i, (byte) (word >>> (8 * i)));
    }
  }

  private static BinaryFieldAppender timestampNanos(StructColumnBuilder column) {
    FixedWidthColumnBuilder millis = (FixedWidthColumnBuilder) column.fields().get(0);
    FixedWidthColumnBuilder nanos = (FixedWidthColumnBuilder) column.fields().get(1);
    return (segment, base, slot) -> {
      millis.appendLong(segment.getLong(base + segment.getInt(slot + Integer.BYTES)));
      nanos.appendInt(segment.getInt(slot));
      column.appendStruct();
    };
  }

  private static BinaryFieldAppender struct(StructColumnBuilder column) {
    BinaryRowAppender fields = new BinaryRowAppender(column.type().fields(), column.fields());
    return (segment, base, slot) -> {
      fields.append(segment, base + segment.getInt(slot + Integer.BYTES));
      column.appendStruct();
    };
  }

  private static BinaryFieldAppender list(ListColumnBuilder column) {
    ArrayAppender array = array(column.type().fields().get(0), column.elements());
    return (segment, base, slot) -> {
      array.append(segment, base + segment.getInt(slot + Integer.BYTES));
      column.appendList();
    };
  }

  /** A binary map is the bytes of its array of keys, that array, and its array of values. */
  private static BinaryFieldAppender map(ListColumnBuilder column) {
    StructColumnBuilder entries = (StructColumnBuilder) column.elements();
    ArrayAppender keys = array(entries.type().fields().get(0), entries.fields().get(0));
    ArrayAppender values = array(entries.type().fields().get(1), entries.fields().get(1));
    return (segment, base, slot) -> {
      int map = base + segment.getInt(slot + Integer.BYTES);
      int keyArray = map + Integer.BYTES;
      keys.append(segment, keyArray);
      values.append(segment, keyArray + segment.getInt(map));
      for (int i = segment.getInt(keyArray); i > 0; i--) {
        entries.appendStruct();
      }
      column.appendList();
    };
  }

  /** Appends the elements of the binary array at an offset in a segment. */
  @FunctionalInterface
  interface ArrayAppender {
    void append(MemorySegment segment, int array);
  }

  private static ArrayAppender array(Field field, ColumnBuilder elements) {
    BinaryFieldAppender appender = of(elements);
    int elementBytes = arrayElementBytes(field.type());
    return (segment, array) -> {
      int size = segment.getInt(array);
      int nulls = array + Integer.BYTES;
      int element = array + arrayHeaderBytes(size);
      for (int i = 0; i < size; i++) {
        if ((segment.get(nulls + (i >>> 3)) >>> (i & 7) & 1) != 0) {
          GetterRowAppender.appendNull(field, elements);
        } else {
          appender.append(segment, array, element);
        }
        element += elementBytes;
      }
    };
  }

  /** Bytes before the elements of a binary array: their number, and a null bit per element. */
  static int arrayHeaderBytes(int size) {
    return Integer.BYTES + (size + 31) / 32 * Integer.BYTES;
  }

  /** Bytes of an element's slot in a binary array. */
  static int arrayElementBytes(DataType type) {
    return switch (type.id()) {
      case BOOL, INT8 -> 1;
      case INT16 -> Short.BYTES;
      case INT32, FLOAT32, DATE, TIME -> Integer.BYTES;
      default -> Long.BYTES;
    };
  }
}
