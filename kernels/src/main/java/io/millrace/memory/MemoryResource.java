// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;

/**
 * A source of memory, ordered by streams. Behaviour (limits, statistics, tracking) is added by
 * adaptors around an upstream resource. Thread-safe.
 */
@PublicEvolving
public interface MemoryResource {

  /** The device whose streams order this resource's memory. */
  Device device();

  /**
   * Allocates memory for work enqueued on {@code stream} after this call. The content is undefined.
   *
   * @param bytes 0 gives the address 0
   * @return an address aligned to at least 64 bytes
   * @throws GpuOutOfMemoryException if there is no such memory left
   */
  long allocate(long bytes, DeviceStream stream);

  /**
   * Gives memory back once the work enqueued on {@code stream} so far is done. The stream may be
   * closed.
   *
   * @param address what {@link #allocate} gave
   * @param bytes what it was asked for
   */
  void free(long address, long bytes, DeviceStream stream);

  /**
   * Whether a buffer of this memory that is shared is copied when one of its slices is written to
   * (copy-on-write), so that a shallow copy costs nothing. Otherwise shallow copies are real copies
   * and shared memory is not written to.
   */
  default boolean copiesOnWrite() {
    return true;
  }

  /**
   * Allocates memory that one slice holds. The memory stays where it is; resources that move memory
   * override this.
   *
   * @param bytes 0 or more
   * @throws GpuOutOfMemoryException if there is no such memory left
   */
  default BufferOwner allocateOwner(long bytes, DeviceStream stream) {
    long address = allocate(bytes, stream);
    return new FixedBufferOwner(
        address, bytes, device(), stream, this, () -> free(address, bytes, stream));
  }
}
