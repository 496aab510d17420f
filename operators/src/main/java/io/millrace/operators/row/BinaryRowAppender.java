// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.row;

import io.millrace.column.ColumnBuilder;
import io.millrace.column.DataType.Field;
import java.util.List;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.table.data.binary.BinaryRowData;

/**
 * Appends the fields of a top-level or nested row in Flink's binary format, directly from the row's
 * memory: a byte with the row kind, a null bit per field, an 8-byte slot per field, then the values
 * that do not fit into slots. {@link BinaryRowData} defines the format.
 */
final class BinaryRowAppender {
  private static final int SLOT_BYTES = 8;

  private final List<Field> fields;
  private final ColumnBuilder[] builders;
  private final BinaryFieldAppender[] appenders;
  private final int[] positions;
  private final int nullBitsBytes;

  /** Appends all fields. */
  BinaryRowAppender(List<Field> fields, List<ColumnBuilder> builders) {
    this(fields, fields.size(), LeafPath.fields(fields.size()), builders);
  }

  /**
   * @param fields of the columns
   * @param arity the number of the row's fields
   * @param paths to fields of the row itself, one for each column
   * @param builders of the columns
   */
  BinaryRowAppender(
      List<Field> fields, int arity, List<LeafPath> paths, List<ColumnBuilder> builders) {
    this.fields = fields;
    this.builders = builders.toArray(ColumnBuilder[]::new);
    this.appenders =
        builders.stream().map(BinaryFieldAppender::of).toArray(BinaryFieldAppender[]::new);
    this.positions = paths.stream().mapToInt(LeafPath::position).toArray();
    this.nullBitsBytes = BinaryRowData.calculateBitSetWidthInBytes(arity);
  }

  /**
   * Appends the row at {@code base}.
   *
   * @param base the offset of the row in {@code segment}, which holds the whole row
   */
  void append(MemorySegment segment, int base) {
    boolean anyNull = anyNull(segment, base);
    for (int i = 0; i < appenders.length; i++) {
      if (anyNull && isNull(segment, base, positions[i])) {
        GetterRowAppender.appendNull(fields.get(i), builders[i]);
      } else {
        appenders[i].append(segment, base, base + nullBitsBytes + positions[i] * SLOT_BYTES);
      }
    }
  }

  // The first byte is the row kind; unused bits are zero.
  private boolean anyNull(MemorySegment segment, int base) {
    long bits = segment.getLong(base) >>> BinaryRowData.HEADER_SIZE_IN_BITS;
    for (int i = Long.BYTES; i < nullBitsBytes; i += Long.BYTES) {
      bits |= segment.getLong(base + i);
    }
    return bits != 0;
  }

  private static boolean isNull(MemorySegment segment, int base, int field) {
    int bit = field + BinaryRowData.HEADER_SIZE_IN_BITS;
    return (segment.get(base + (bit >>> 3)) >>> (bit & 7) & 1) != 0;
  }
}
