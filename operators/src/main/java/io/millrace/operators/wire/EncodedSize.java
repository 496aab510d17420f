// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.wire;

import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import org.apache.flink.annotation.Internal;

/** Estimates the size of a table that {@link ColumnBatchSerializer} writes, without encoding it. */
@Internal
public final class EncodedSize {
  private static final long BUFFER_ALIGNMENT = 64;
  private static final long NODE_AND_BUFFERS_METADATA_BYTES = 4 * 16;
  private static final long MESSAGE_OVERHEAD_BYTES = 512;
  // All decimals are written with 128 bits.
  private static final long DECIMAL_BYTES = 16;

  private EncodedSize() {}

  /**
   * An upper bound of the table's serialized size in bytes, without compression and with the
   * header. The bound is close to the size.
   *
   * @param table in host memory
   * @param stream a host stream
   */
  public static long upperBound(Table table, DeviceStream stream) {
    try (AccessScope scope = AccessScope.on(stream)) {
      long bytes = BatchHeader.BYTES + MESSAGE_OVERHEAD_BYTES;
      for (Column column : table.columns()) {
        bytes += upperBound(column, column.offset(), column.size(), scope);
      }
      return bytes;
    }
  }

  private static long upperBound(Column column, int first, int length, AccessScope scope) {
    long mask = column.isNullable() ? align((length + 7L) / 8) : 0;
    return NODE_AND_BUFFERS_METADATA_BYTES
        + mask
        + switch (column.type().id()) {
          case DECIMAL32, DECIMAL64 -> align(length * DECIMAL_BYTES);
          case STRING, BINARY -> {
            Column offsets = column.child(0);
            int start = offset(offsets, first, scope);
            int end = offset(offsets, first + length, scope);
            yield align((length + 1L) * Integer.BYTES) + align((long) end - start);
          }
          case LIST -> {
            int start = offset(column.child(0), first, scope);
            int end = offset(column.child(0), first + length, scope);
            Column elements = column.child(1);
            yield align((length + 1L) * Integer.BYTES)
                + upperBound(elements, elements.offset() + start, end - start, scope);
          }
          case STRUCT, TIMESTAMP_NANOS -> {
            long children = 0;
            for (Column child : column.children()) {
              children += upperBound(child, child.offset() + first, length, scope);
            }
            yield children;
          }
          default -> align((long) length * column.type().id().byteWidth());
        };
  }

  private static int offset(Column offsets, int index, AccessScope scope) {
    long address = offsets.data().orElseThrow().access(AccessMode.READ, scope);
    return HostMemory.getInt(address + (offsets.offset() + (long) index) * Integer.BYTES);
  }

  private static long align(long bytes) {
    return (bytes + BUFFER_ALIGNMENT - 1) & -BUFFER_ALIGNMENT;
  }
}
