// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;

/**
 * When the rows of a state table were written to last: an epoch for each page, a sixteenth of a
 * chunk. Epochs are numbers that grow with each snapshot, from 1 on. Used by one thread.
 */
@Internal
public final class PageEpochs implements AutoCloseable {
  /** The binary logarithm of the pages of a chunk. */
  private static final int PAGES_SHIFT = 4;

  private static final long FIRST_PAGES = 64;

  private final int pageShift;
  private final DeviceStream stream;
  private final MemoryResource memory;
  // null until the first rows.
  private Buffer epochs;

  public PageEpochs(int rowBytes, DeviceStream stream, MemoryResource memory) {
    this.pageShift = pageShift(rowBytes);
    this.stream = stream;
    this.memory = memory;
  }

  private static int pageShift(int rowBytes) {
    return StateRows.chunkShift(rowBytes) - PAGES_SHIFT;
  }

  /** The number of rows of a page: of up to 256 KiB. */
  public static int pageRows(int rowBytes) {
    return 1 << pageShift(rowBytes);
  }

  /** The page of a row, by the {@link StateRows#chunkShift} of the table. */
  public static long page(long row, int chunkShift) {
    return row >> (chunkShift - PAGES_SHIFT);
  }

  private long bytes(long rows) {
    return rows == 0 ? 0 : (((rows - 1) >> pageShift) + 1) * Long.BYTES;
  }

  /** Bytes of all epochs, with room for further ones. */
  public long reservedBytes() {
    return epochs == null ? 0 : epochs.size();
  }

  /**
   * Makes room for {@code rows} rows in all.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory; nothing
   *     changes
   */
  public void reserve(long rows) {
    long size = reservedBytes();
    if (bytes(rows) <= size) {
      return;
    }
    long doubled = Math.max(Math.max(bytes(rows), 2 * size), FIRST_PAGES * Long.BYTES);
    Buffer larger = Buffer.allocate(doubled, stream, memory);
    try (AccessScope scope = AccessScope.on(stream)) {
      long target = larger.access(AccessMode.WRITE, scope);
      stream.fill(target + size, (byte) 0, doubled - size);
      if (epochs != null) {
        stream.copy(target, epochs.access(AccessMode.READ, scope), size);
      }
    } catch (RuntimeException | Error e) {
      larger.close();
      throw e;
    }
    close();
    epochs = larger;
  }

  /**
   * The address of an INT64 for each page, for writing.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory for a copy of
   *     epochs that are shared
   */
  public long access(AccessScope scope) {
    return epochs.access(AccessMode.WRITE, scope);
  }

  /**
   * The epochs of the first {@code rows} rows, at least 1, as they are now; the caller closes them.
   * Copies them as {@link StateRows#share} does.
   */
  public Buffer share(long rows) {
    try (Buffer first = epochs.slice(0, bytes(rows))) {
      return first.shallowCopy(stream);
    }
  }

  @Override
  public void close() {
    if (epochs != null) {
      epochs.close();
      epochs = null;
    }
  }
}
