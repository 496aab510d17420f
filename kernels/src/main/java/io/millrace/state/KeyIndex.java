// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.SpillTier;
import io.millrace.state.row.HostKeys;

/**
 * The hash index of a state table, from keys to rows. If the device has too little memory, the
 * index lies in pinned host memory and is used there, over the bus; rows are spilled before it.
 * Used by one thread.
 */
final class KeyIndex implements AutoCloseable {
  private static final long MIN_SLOTS = 1024;
  // Of 10: an index with more entries per slot is replaced by one with half as many slots again.
  private static final long LOAD_TENTHS = 9;

  private final StateKernels kernels;
  private final DeviceStream stream;
  private final MemoryResource memory;
  // null until the first reservation.
  private Buffer entries;
  // Read by threads that report metrics.
  private volatile long slots;

  KeyIndex(StateKernels kernels, DeviceStream stream, MemoryResource memory) {
    this.kernels = kernels;
    this.stream = stream;
    this.memory = memory;
  }

  /** As {@link HostKeys#indexSlots} gives. */
  long slots() {
    return slots;
  }

  long reservedBytes() {
    return entries == null ? 0 : entries.size();
  }

  /**
   * Makes room for {@code rows} rows in all.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory; nothing
   *     changes
   */
  void reserve(long rows) {
    long needed = Math.max(slots, MIN_SLOTS);
    while (rows > needed / 10 * LOAD_TENTHS) {
      needed = HostKeys.indexSlots(needed + needed / 2);
    }
    if (needed > slots) {
      grow(needed);
    }
  }

  private void grow(long moreSlots) {
    Buffer larger = Buffer.allocateInPlace(moreSlots * Long.BYTES, stream, memory);
    try (AccessScope scope = AccessScope.on(stream)) {
      long target = larger.useInPlace(AccessMode.WRITE, scope);
      stream.fill(target, (byte) 0, larger.size());
      if (entries != null) {
        long source = entries.useInPlace(AccessMode.READ, scope);
        kernels.moveIndex(source, slots, target, moreSlots, stream);
      }
    } catch (RuntimeException | Error e) {
      larger.close();
      throw e;
    }
    Buffer smaller = entries;
    entries = larger;
    slots = moreSlots;
    if (smaller != null) {
      smaller.close();
    }
  }

  /**
   * The slots, for writing. Accessed before the rows, which would be used on the device in its
   * place otherwise.
   */
  Access access(AccessScope scope) {
    long address = entries.useInPlace(AccessMode.WRITE, scope);
    return new Access(address, slots, entries.tier() == SpillTier.HOST);
  }

  /** The slots as they are now, for reading; there is an entry. The caller closes the buffer. */
  Buffer share() {
    return entries.shallowCopy(stream);
  }

  /**
   * The index during an access.
   *
   * @param address of the slots; {@link StateBatch} has their layout
   * @param isOnHost whether work on a GPU reaches it over the bus
   */
  record Access(long address, long slots, boolean isOnHost) {}

  @Override
  public void close() {
    if (entries != null) {
      entries.close();
      entries = null;
    }
  }
}
