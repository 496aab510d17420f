// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnReader;
import io.millrace.device.HostMemory;
import java.util.Arrays;
import org.apache.flink.core.memory.MemorySegment;

/**
 * Writes one non-null value of a column in host memory as a field of a row, or an element of an
 * array, in Flink's binary format. {@link BinaryFieldAppender} says what a slot holds.
 */
@FunctionalInterface
interface BinaryFieldEncoder {
  /** The length of the longest bytes that are kept in a slot; longer bytes follow the slots. */
  int MAX_INLINE_BYTES = 7;

  /**
   * Writes the value at {@code row} as the field whose slot is at {@code slot}.
   *
   * @param row the position of the value in the column
   * @param base the offset of the binary row or array in {@code target}
   * @param slot the offset of the zeroed slot of the field or element in {@code target}
   */
  void encode(int row, BinaryBuffer target, int base, int slot);

  static BinaryFieldEncoder of(ColumnReader column) {
    return switch (column.type().id()) {
      case BOOL, INT8 ->
          (row, target, base, slot) -> target.segment().put(slot, column.getByte(row));
      case INT16 ->
          (row, target, base, slot) -> target.segment().putShort(slot, column.getShort(row));
      case INT32, FLOAT32, DATE, TIME ->
          (row, target, base, slot) -> target.segment().putInt(slot, column.getInt(row));
      case DECIMAL32 ->
          (row, target, base, slot) -> target.segment().putLong(slot, column.getInt(row));
      case INT64, FLOAT64, DECIMAL64, TIMESTAMP_MILLIS ->
          (row, target, base, slot) -> target.segment().putLong(slot, column.getLong(row));
      case DECIMAL128 -> decimal128(column);
      case TIMESTAMP_MICROS -> timestampMicros(column);
      case TIMESTAMP_NANOS ->
          (row, target, base, slot) ->
              putTimestamp(
                  target,
                  base,
                  slot,
                  column.getTimestampMillis(row),
                  column.getTimestampNanosOfMilli(row));
      case STRING, BINARY ->
          (row, target, base, slot) ->
              putBytes(target, base, slot, column.getBytesAddress(row), column.getLength(row));
      case STRUCT -> struct(column);
      case LIST -> column.type().isMap() ? map(column) : list(column);
      case DICTIONARY -> {
        BinaryFieldEncoder values = of(column.dictionary());
        yield (row, target, base, slot) -> values.encode(column.getInt(row), target, base, slot);
      }
    };
  }

  private static BinaryFieldEncoder decimal128(ColumnReader column) {
    return (row, target, base, slot) -> {
      long low = column.getDecimal128Low(row);
      long high = column.getDecimal128High(row);
      int length = Decimal128.length(low, high);
      int start = target.reserve(Decimal128.MAX_BYTES);
      Decimal128.putBigEndian(target.segment(), start, low, high, length);
      putOffset(target, base, slot, start, length);
    };
  }

  private static BinaryFieldEncoder timestampMicros(ColumnReader column) {
    return (row, target, base, slot) -> {
      long micros = column.getLong(row);
      int nanosOfMilli = (int) Math.floorMod(micros, 1000L) * 1000;
      putTimestamp(target, base, slot, Math.floorDiv(micros, 1000L), nanosOfMilli);
    };
  }

  private static void putTimestamp(
      BinaryBuffer target, int base, int slot, long millis, int nanosOfMilli) {
    int start = target.reserve(Long.BYTES);
    target.segment().putLong(start, millis);
    putOffset(target, base, slot, start, nanosOfMilli);
  }

  private static void putBytes(BinaryBuffer target, int base, int slot, long address, int length) {
    if (length <= MAX_INLINE_BYTES) {
      target.segment().putLong(slot, inline(address, length));
      return;
    }
    int start = target.reserve(length);
    HostMemory.copyToArray(target.bytes(), start, address, length);
    putOffset(target, base, slot, start, length);
  }

  /** The slot of up to {@link #MAX_INLINE_BYTES} bytes. */
  static long inline(long address, int length) {
    long word = (0x80L | length) << 56;
    for (int i = 0; i < length; i++) {
      word |= (HostMemory.getByte(address + i) & 0xffL) << (8 * i);
    }
    return word;
  }

  private static BinaryFieldEncoder struct(ColumnReader column) {
    int fieldCount = column.type().fields().size();
    ColumnReader[] readers = new ColumnReader[fieldCount];
    for (int i = 0; i < fieldCount; i++) {
      readers[i] = column.field(i);
    }
    BinaryRowEncoder fields = new BinaryRowEncoder(readers);
    return (row, target, base, slot) -> {
      int start = fields.encode(row, target);
      putOffset(target, base, slot, start, target.size() - start);
    };
  }

  private static BinaryFieldEncoder list(ColumnReader column) {
    ArrayEncoder array = array(column.elements());
    return (row, target, base, slot) -> {
      int start = array.encode(column.getOffset(row), column.getLength(row), target);
      putOffset(target, base, slot, start, target.size() - start);
    };
  }

  private static BinaryFieldEncoder map(ColumnReader column) {
    ArrayEncoder keys = array(column.elements().field(0));
    ArrayEncoder values = array(column.elements().field(1));
    return (row, target, base, slot) -> {
      int start = target.reserve(Integer.BYTES);
      int keyArray = keys.encode(column.getOffset(row), column.getLength(row), target);
      int keyBytes = target.size() - keyArray;
      values.encode(column.getOffset(row), column.getLength(row), target);
      // The arrays were aligned; in a map they follow the size of the keys.
      int end = start + Integer.BYTES + target.size() - keyArray;
      System.arraycopy(
          target.bytes(),
          keyArray,
          target.bytes(),
          start + Integer.BYTES,
          end - start - Integer.BYTES);
      Arrays.fill(target.bytes(), end, target.size(), (byte) 0);
      target.segment().putInt(start, keyBytes);
      putOffset(target, base, slot, start, end - start);
    };
  }

  /** Encodes elements of a column as a binary array, and returns its offset. */
  @FunctionalInterface
  interface ArrayEncoder {
    int encode(int first, int size, BinaryBuffer target);
  }

  private static ArrayEncoder array(ColumnReader elements) {
    BinaryFieldEncoder encoder = of(elements);
    int elementBytes = BinaryFieldAppender.arrayElementBytes(elements.type());
    return (first, size, target) -> {
      int header = BinaryFieldAppender.arrayHeaderBytes(size);
      int array =
          target.reserveZeroed(Math.addExact(header, Math.multiplyExact(size, elementBytes)));
      target.segment().putInt(array, size);
      for (int i = 0; i < size; i++) {
        if (elements.isNull(first + i)) {
          setBit(target.segment(), array + Integer.BYTES, i);
        } else {
          encoder.encode(first + i, target, array, array + header + i * elementBytes);
        }
      }
      return array;
    };
  }

  static void setBit(MemorySegment segment, int bits, int bit) {
    int index = bits + (bit >>> 3);
    segment.put(index, (byte) (segment.get(index) | 1 << (bit & 7)));
  }

  private static void putOffset(BinaryBuffer target, int base, int slot, int start, int length) {
    target.segment().putLong(slot, (long) (start - base) << 32 | length);
  }
}
