// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.HostMemory;
import java.util.Arrays;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.data.binary.BinaryRowData;

/**
 * Writes rows without nested values in Flink's binary format: a block of rows at a time, column by
 * column, so that each loop reads one column of one type. The memory of a block is reused for the
 * next block.
 */
final class RowBlockEncoder {
  private static final int BLOCK_BYTES = 1 << 15;
  private static final int SLOT_BYTES = 8;

  private final ColumnReader[] columns;
  private final ColumnReader rowKinds;
  private final int rowCount;
  private final int nullBitsBytes;
  private final int fixedBytes;
  // Where each row of the block begins, and behind them where the last one ends.
  private final int[] starts;
  // How long each row is, then where its next value that does not fit into a slot goes.
  private final int[] cursors;
  private MemorySegment segment = MemorySegmentFactory.wrap(new byte[BLOCK_BYTES]);
  private MemorySegment[] segments = {segment};
  private int first;
  private int end;

  /**
   * @param columns columns whose types {@link #supports} accepts
   * @param rowKinds the row-kind column; null if all rows are insertions
   */
  RowBlockEncoder(ColumnReader[] columns, ColumnReader rowKinds, int rowCount) {
    this.columns = columns;
    this.rowKinds = rowKinds;
    this.rowCount = rowCount;
    this.nullBitsBytes = BinaryRowData.calculateBitSetWidthInBytes(columns.length);
    this.fixedBytes = BinaryRowData.calculateFixPartSizeInBytes(columns.length);
    int blockRows = Math.min(rowCount, Math.max(1, BLOCK_BYTES / fixedBytes));
    this.starts = new int[blockRows + 1];
    this.cursors = new int[blockRows];
  }

  /** Whether {@code type} has no nested values. */
  static boolean supports(DataType type) {
    return switch (type.id()) {
      case BOOL, INT8, INT16, INT32, INT64, FLOAT32, FLOAT64 -> true;
      case DATE, TIME, TIMESTAMP_MILLIS, TIMESTAMP_MICROS, TIMESTAMP_NANOS -> true;
      case DECIMAL32, DECIMAL64, DECIMAL128, STRING, BINARY -> true;
      case LIST, STRUCT, DICTIONARY -> false;
    };
  }

  /**
   * Points {@code target} at {@code row}. Its content is valid until a row of another block is
   * read.
   */
  void read(int row, BinaryRowData target) {
    if (row < first || row >= end) {
      encodeFrom(row);
    }
    int start = starts[row - first];
    target.pointTo(segments, start, starts[row - first + 1] - start);
  }

  private void encodeFrom(int row) {
    int previous = end - first;
    first = row;
    // A block of long rows has few rows: do not measure all that could be in it.
    int most = Math.min(cursors.length, rowCount - row);
    end = row + place(previous == 0 ? most : Math.min(most, 2 * previous));
    clear(starts[end - first]);
    for (int i = 0; i < columns.length; i++) {
      int slot = nullBitsBytes + i * SLOT_BYTES;
      encodeValues(columns[i], slot);
      if (columns[i].isNullable()) {
        encodeNulls(columns[i], BinaryRowData.HEADER_SIZE_IN_BITS + i, slot);
      }
    }
    if (rowKinds != null) {
      for (int r = first; r < end; r++) {
        segment.put(starts[r - first], rowKinds.getByte(r));
      }
    }
  }

  /** Gives up to {@code most} rows their places; returns how many. */
  private int place(int most) {
    Arrays.fill(cursors, 0, most, fixedBytes);
    for (ColumnReader column : columns) {
      addLengths(column, most);
    }
    int rows = 0;
    int start = 0;
    while (rows < most && start < BLOCK_BYTES) {
      starts[rows] = start;
      start = Math.addExact(start, cursors[rows]);
      cursors[rows] = starts[rows] + fixedBytes;
      rows++;
    }
    starts[rows] = start;
    return rows;
  }

  /** Adds the bytes outside of slots. */
  private void addLengths(ColumnReader column, int rows) {
    switch (column.type().id()) {
      case STRING, BINARY -> {
        for (int i = 0; i < rows; i++) {
          int length = column.isNull(first + i) ? 0 : column.getLength(first + i);
          if (length > BinaryFieldEncoder.MAX_INLINE_BYTES) {
            cursors[i] = Math.addExact(cursors[i], words(length));
          }
        }
      }
      case DECIMAL128 -> addLength(column, rows, Decimal128.MAX_BYTES);
      case TIMESTAMP_MICROS, TIMESTAMP_NANOS -> addLength(column, rows, Long.BYTES);
      default -> {}
    }
  }

  private void addLength(ColumnReader column, int rows, int length) {
    for (int i = 0; i < rows; i++) {
      cursors[i] += column.isNull(first + i) ? 0 : length;
    }
  }

  private static int words(int length) {
    return Math.addExact(length, SLOT_BYTES - 1) & -SLOT_BYTES;
  }

  private void clear(int bytes) {
    if (bytes > segment.size()) {
      segment = MemorySegmentFactory.wrap(new byte[bytes]);
      segments = new MemorySegment[] {segment};
    } else {
      Arrays.fill(segment.getArray(), 0, bytes, (byte) 0);
    }
  }

  private void encodeValues(ColumnReader column, int slot) {
    switch (column.type().id()) {
      case BOOL, INT8 -> {
        for (int r = first; r < end; r++) {
          segment.put(starts[r - first] + slot, column.getByte(r));
        }
      }
      case INT16 -> {
        for (int r = first; r < end; r++) {
          segment.putShort(starts[r - first] + slot, column.getShort(r));
        }
      }
      case INT32, FLOAT32, DATE, TIME -> {
        for (int r = first; r < end; r++) {
          segment.putInt(starts[r - first] + slot, column.getInt(r));
        }
      }
      case DECIMAL32 -> {
        for (int r = first; r < end; r++) {
          segment.putLong(starts[r - first] + slot, column.getInt(r));
        }
      }
      case DECIMAL128 -> encodeDecimals(column, slot);
      case STRING, BINARY -> encodeBytes(column, slot);
      case TIMESTAMP_MICROS, TIMESTAMP_NANOS -> encodeTimestamps(column, slot);
      default -> {
        for (int r = first; r < end; r++) {
          segment.putLong(starts[r - first] + slot, column.getLong(r));
        }
      }
    }
  }

  private void encodeBytes(ColumnReader column, int slot) {
    for (int r = first; r < end; r++) {
      if (column.isNull(r)) {
        continue;
      }
      long address = column.getBytesAddress(r);
      int length = column.getLength(r);
      if (length > BinaryFieldEncoder.MAX_INLINE_BYTES) {
        int at = append(r, slot, length, words(length));
        HostMemory.copyToArray(segment.getArray(), at, address, length);
      } else {
        segment.putLong(starts[r - first] + slot, BinaryFieldEncoder.inline(address, length));
      }
    }
  }

  private void encodeDecimals(ColumnReader column, int slot) {
    for (int r = first; r < end; r++) {
      if (!column.isNull(r)) {
        long low = column.getDecimal128Low(r);
        long high = column.getDecimal128High(r);
        int length = Decimal128.length(low, high);
        int at = append(r, slot, length, Decimal128.MAX_BYTES);
        Decimal128.putBigEndian(segment, at, low, high, length);
      }
    }
  }

  private void encodeTimestamps(ColumnReader column, int slot) {
    boolean isMicros = column.type().id() == TypeId.TIMESTAMP_MICROS;
    for (int r = first; r < end; r++) {
      if (column.isNull(r)) {
        continue;
      }
      long micros = isMicros ? column.getLong(r) : 0;
      int nanos =
          isMicros ? (int) Math.floorMod(micros, 1000L) * 1000 : column.getTimestampNanosOfMilli(r);
      long millis = isMicros ? Math.floorDiv(micros, 1000L) : column.getTimestampMillis(r);
      segment.putLong(append(r, slot, nanos, Long.BYTES), millis);
    }
  }

  /**
   * Reserves memory of a row outside of slots, and writes its offset and {@code low} to the slot.
   */
  private int append(int row, int slot, int low, int bytes) {
    int start = starts[row - first];
    int at = cursors[row - first];
    segment.putLong(start + slot, (long) (at - start) << 32 | low);
    cursors[row - first] = at + bytes;
    return at;
  }

  private void encodeNulls(ColumnReader column, int bit, int slot) {
    for (int r = first; r < end; r++) {
      if (column.isNull(r)) {
        BinaryFieldEncoder.setBit(segment, starts[r - first], bit);
        segment.putLong(starts[r - first] + slot, 0);
      }
    }
  }
}
