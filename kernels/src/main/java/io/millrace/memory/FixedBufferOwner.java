// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;

/** Memory that stays where it is: of a plain resource, or of someone else. */
final class FixedBufferOwner extends BufferOwner {
  private final long address;
  private final Device device;
  private final DeviceStream stream;
  private final MemoryResource resource;
  private final Runnable release;

  /**
   * @param stream the stream in whose order the memory is valid and is released
   * @param resource where a copy of the memory comes from, of the memory's device
   * @param release called once, when no slice is live
   */
  FixedBufferOwner(
      long address, long size, DeviceStream stream, MemoryResource resource, Runnable release) {
    super(size);
    this.address = address;
    this.device = resource.device();
    this.stream = stream;
    this.resource = resource;
    this.release = release;
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public MemoryResource resource() {
    return resource;
  }

  @Override
  public DeviceStream stream() {
    return stream;
  }

  @Override
  public long address() {
    return address;
  }

  @Override
  public void free() {
    release.run();
  }

  @Override
  public SpillTier tier() {
    return SpillTier.DEVICE;
  }
}
