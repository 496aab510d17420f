// SPDX-License-Identifier: Apache-2.0
package io.millrace.column;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.FirstFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The number of bytes that the strings of a table take. Its columns may have more memory, because
 * device work gets as much memory as it might need; only the device knows how much it used. Used by
 * one thread.
 */
@PublicEvolving
public final class StringBytes implements AutoCloseable {
  private final Table table;
  // Columns, the ends of whose bytes are in the staging memory one after the other. It and the
  // event
  // are null if there are none.
  private final List<Integer> positions;
  private final StagingBuffer ends;
  private final DeviceEvent read;

  private StringBytes(Table table, List<Integer> positions, StagingBuffer ends, DeviceEvent read) {
    this.table = table;
    this.positions = positions;
    this.ends = ends;
    this.read = read;
  }

  /**
   * Enqueues on {@code stream} to read how many bytes the STRING and BINARY columns of {@code
   * table} take that have memory of at least {@code minimumBytes}. May wait for the row count.
   *
   * @param table owned by the caller, who keeps it open
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no staging memory
   */
  public static StringBytes read(Table table, long minimumBytes, DeviceStream stream) {
    List<Integer> positions =
        IntStream.range(0, table.columnCount())
            .filter(i -> isLarge(table.upperBoundColumns().get(i), minimumBytes))
            .boxed()
            .toList();
    if (positions.isEmpty()) {
      return new StringBytes(table, positions, null, null);
    }
    StagingBuffer ends =
        stream.device().stagingPool().acquire((long) positions.size() * Integer.BYTES);
    ends.enqueue(
        stream,
        () -> {
          try (AccessScope scope = AccessScope.on(stream)) {
            for (int i = 0; i < positions.size(); i++) {
              long end = endAddress(table.column(positions.get(i)), scope);
              stream.copy(ends.address() + (long) i * Integer.BYTES, end, Integer.BYTES);
            }
          }
        });
    return new StringBytes(table, positions, ends, stream.recordEvent());
  }

  private static boolean isLarge(Column column, long minimumBytes) {
    return column.type().id().isVariableWidth()
        && column.data().orElseThrow().size() >= minimumBytes;
  }

  private static long endAddress(Column column, AccessScope scope) {
    Column offsets = column.child(0);
    long element = (long) offsets.offset() + column.offset() + column.size();
    return offsets.data().orElseThrow().access(AccessMode.READ, scope) + element * Integer.BYTES;
  }

  /** Whether {@link #narrow} does not wait. */
  public boolean isKnown() {
    return read == null || read.isReached();
  }

  /**
   * The table over the same memory, without the bytes behind its strings; the caller closes it.
   * Waits for the device.
   */
  public Table narrow() {
    if (read == null) {
      return table.share();
    }
    read.synchronize();
    List<Column> narrowed = new ArrayList<>();
    try {
      for (int i = 0; i < table.columnCount(); i++) {
        Column column = table.column(i);
        int position = positions.indexOf(i);
        narrowed.add(position < 0 ? column.share() : column.firstBytes(bytes(position, column)));
      }
      return new Table(table.schema(), narrowed, table.rowCount());
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      narrowed.forEach(column -> failure.run(column::close));
      throw e;
    }
  }

  private long bytes(int position, Column column) {
    return column.size() == 0
        ? 0
        : HostMemory.getInt(ends.address() + (long) position * Integer.BYTES);
  }

  @Override
  public void close() {
    if (read != null) {
      try (read) {
        ends.closeAfter(read);
      }
    }
  }
}
