// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnReader;
import io.millrace.column.DataType;
import java.util.Arrays;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.data.binary.BinaryRowData;

/**
 * Writes rows in Flink's binary format if all of their values fit into slots: a block of rows at a
 * time, column by column. The memory of a block is reused for the next block.
 */
final class RowBlockEncoder {
  private static final int BLOCK_BYTES = 1 << 14;
  private static final int SLOT_BYTES = 8;

  private final ColumnReader[] columns;
  private final ColumnReader rowKinds;
  private final int rowCount;
  private final int nullBitsBytes;
  private final int rowBytes;
  private final int blockRows;
  private final MemorySegment segment;
  private final MemorySegment[] segments;
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
    this.rowBytes = BinaryRowData.calculateFixPartSizeInBytes(columns.length);
    this.blockRows = Math.min(rowCount, Math.max(1, BLOCK_BYTES / rowBytes));
    this.segment = MemorySegmentFactory.wrap(new byte[blockRows * rowBytes]);
    this.segments = new MemorySegment[] {segment};
  }

  /** Whether each value of {@code type} fits into a slot. */
  static boolean supports(DataType type) {
    return switch (type.id()) {
      case BOOL, INT8, INT16, INT32, INT64, FLOAT32, FLOAT64 -> true;
      case DATE, TIME, TIMESTAMP_MILLIS, DECIMAL32, DECIMAL64 -> true;
      default -> false;
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
    target.pointTo(segments, (row - first) * rowBytes, rowBytes);
  }

  private void encodeFrom(int row) {
    first = row;
    end = Math.min(rowCount, row + blockRows);
    Arrays.fill(segment.getArray(), 0, (end - first) * rowBytes, (byte) 0);
    for (int i = 0; i < columns.length; i++) {
      int slot = nullBitsBytes + i * SLOT_BYTES;
      encodeValues(columns[i], slot);
      if (columns[i].isNullable()) {
        encodeNulls(columns[i], BinaryRowData.HEADER_SIZE_IN_BITS + i, slot);
      }
    }
    if (rowKinds != null) {
      for (int r = first, base = 0; r < end; r++, base += rowBytes) {
        segment.put(base, rowKinds.getByte(r));
      }
    }
  }

  private void encodeValues(ColumnReader column, int firstSlot) {
    int slot = firstSlot;
    switch (column.type().id()) {
      case BOOL, INT8 -> {
        for (int r = first; r < end; r++, slot += rowBytes) {
          segment.put(slot, column.getByte(r));
        }
      }
      case INT16 -> {
        for (int r = first; r < end; r++, slot += rowBytes) {
          segment.putShort(slot, column.getShort(r));
        }
      }
      case INT32, FLOAT32, DATE, TIME -> {
        for (int r = first; r < end; r++, slot += rowBytes) {
          segment.putInt(slot, column.getInt(r));
        }
      }
      case DECIMAL32 -> {
        for (int r = first; r < end; r++, slot += rowBytes) {
          segment.putLong(slot, column.getInt(r));
        }
      }
      default -> {
        for (int r = first; r < end; r++, slot += rowBytes) {
          segment.putLong(slot, column.getLong(r));
        }
      }
    }
  }

  private void encodeNulls(ColumnReader column, int bit, int slot) {
    for (int r = first, base = 0; r < end; r++, base += rowBytes) {
      if (column.isNull(r)) {
        BinaryFieldEncoder.setBit(segment, base, bit);
        segment.putLong(base + slot, 0);
      }
    }
  }
}
