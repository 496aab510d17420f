// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnReader;
import java.util.Arrays;
import org.apache.flink.table.data.binary.BinaryRowData;

/**
 * Writes columns in host memory as fields of a top-level or nested row in Flink's binary format.
 */
final class BinaryRowEncoder {
  private static final int SLOT_BYTES = 8;

  private final ColumnReader[] columns;
  private final BinaryFieldEncoder[] encoders;
  private final int nullBitsBytes;
  private final int fixedBytes;

  BinaryRowEncoder(ColumnReader[] columns) {
    this.columns = columns;
    this.encoders =
        Arrays.stream(columns).map(BinaryFieldEncoder::of).toArray(BinaryFieldEncoder[]::new);
    this.nullBitsBytes = BinaryRowData.calculateBitSetWidthInBytes(columns.length);
    this.fixedBytes = BinaryRowData.calculateFixPartSizeInBytes(columns.length);
  }

  /**
   * Appends row {@code row} to {@code target}.
   *
   * @return the offset of the row's start; the row ends at the end of {@code target}
   */
  int encode(int row, BinaryBuffer target) {
    int base = target.reserveZeroed(fixedBytes);
    int slot = base + nullBitsBytes;
    for (int i = 0; i < encoders.length; i++) {
      if (columns[i].isNull(row)) {
        BinaryFieldEncoder.setBit(target.segment(), base, BinaryRowData.HEADER_SIZE_IN_BITS + i);
      } else {
        encoders[i].encode(row, target, base, slot);
      }
      slot += SLOT_BYTES;
    }
    return base;
  }
}
