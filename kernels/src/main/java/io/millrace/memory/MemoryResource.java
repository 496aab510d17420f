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
   * @param bytes 0 returns the address 0
   * @return an address aligned to at least 64 bytes
   * @throws GpuOutOfMemoryException if the resource has too little memory left
   */
  long allocate(long bytes, DeviceStream stream);

  /**
   * Frees memory once the work enqueued on {@code stream} so far is done. The stream may be closed.
   *
   * @param address the address returned by {@link #allocate}
   * @param bytes the bytes requested from {@link #allocate}
   */
  void free(long address, long bytes, DeviceStream stream);

  /**
   * Whether shared memory is copied when one of its slices is written to (copy-on-write), so that a
   * shallow copy costs nothing. Otherwise shallow copies copy the bytes and shared memory cannot be
   * written to.
   */
  default boolean copiesOnWrite() {
    return true;
  }

  /**
   * Allocates an owner with one slice. Its memory never moves; resources that move memory override
   * this.
   *
   * @param bytes 0 or more
   * @throws GpuOutOfMemoryException if the resource has too little memory left
   */
  default BufferOwner allocateOwner(long bytes, DeviceStream stream) {
    long address = allocate(bytes, stream);
    return new FixedBufferOwner(address, bytes, stream, this, () -> free(address, bytes, stream));
  }

  /**
   * As {@link #allocateOwner}, for memory that may begin in pinned host memory, where work on the
   * device uses it: resources that spill override this.
   *
   * @throws GpuOutOfMemoryException if there is too little memory left on the device and on the
   *     host
   */
  default BufferOwner allocateOwnerInPlace(long bytes, DeviceStream stream) {
    return allocateOwner(bytes, stream);
  }
}
