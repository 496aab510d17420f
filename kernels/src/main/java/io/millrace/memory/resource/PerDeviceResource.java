// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.Device;
import io.millrace.device.PerDevice;
import io.millrace.memory.MemoryResource;

/** The memory resource that a process uses on a device unless told otherwise, as in RMM. */
@PublicEvolving
public final class PerDeviceResource {
  private static final PerDevice<MemoryResource> RESOURCES =
      new PerDevice<>(
          host -> HostMemoryResource.INSTANCE,
          gpu -> new PoolMemoryResource(new CudaMemoryResource(gpu)));

  private PerDeviceResource() {}

  /** The simplest resource of {@code device} that is fast enough to allocate for each batch. */
  public static MemoryResource of(Device device) {
    return RESOURCES.of(device);
  }
}
