// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;

/** The hash index of a state table, from the hashes of keys to rows. Used by one thread. */
final class StateIndex implements AutoCloseable {
  private static final long MIN_SLOTS = 1024;
  // Of 10: an index with more entries per slot is replaced by one of twice the size.
  private static final long LOAD_TENTHS = 8;

  private final StateKernels kernels;
  private final DeviceStream stream;
  private final MemoryResource memory;
  // null until the first reservation.
  private Buffer entries;
  private long slots;

  StateIndex(StateKernels kernels, DeviceStream stream, MemoryResource memory) {
    this.kernels = kernels;
    this.stream = stream;
    this.memory = memory;
  }

  /**
   * Makes room for {@code rows} rows in all.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory; the index
   *     stays as it was
   */
  void reserve(long rows) {
    long needed = Math.max(slots, MIN_SLOTS);
    while (rows > needed / 10 * LOAD_TENTHS) {
      needed *= 2;
    }
    if (needed > slots) {
      grow(needed);
    }
  }

  private void grow(long newSlots) {
    Buffer larger = Buffer.allocate(newSlots * Long.BYTES, stream, memory);
    try (AccessScope scope = AccessScope.on(stream)) {
      long target = larger.access(AccessMode.WRITE, scope);
      stream.fill(target, (byte) 0, larger.size());
      if (entries != null) {
        long source = entries.access(AccessMode.READ, scope);
        kernels.moveIndex(source, slots, target, newSlots, stream);
      }
    } catch (RuntimeException | Error e) {
      larger.close();
      throw e;
    }
    close();
    entries = larger;
    slots = newSlots;
  }

  /** A power of two, or 0. */
  long slots() {
    return slots;
  }

  long bytes() {
    return slots * Long.BYTES;
  }

  /** The address of the slots, for writing; after a reservation. */
  long access(AccessScope scope) {
    return entries.access(AccessMode.WRITE, scope);
  }

  @Override
  public void close() {
    if (entries != null) {
      entries.close();
    }
  }
}
