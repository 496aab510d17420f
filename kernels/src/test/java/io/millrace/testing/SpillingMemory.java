// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.resource.TrackingResourceAdaptor;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import io.millrace.memory.spill.SpillableResourceAdaptor;

/**
 * Memory that moves as often as possible: each allocation first spills every buffer that no scope
 * holds, and freed memory is overwritten. So an address that is used outside its scope gives wrong
 * results.
 */
final class SpillingMemory implements AutoCloseable {
  private final TrackingResourceAdaptor deviceMemory;
  private final TrackingResourceAdaptor hostMemory;
  private final PoisoningResourceAdaptor poisoning;
  private final SpillManager manager;
  private final SpillQuota quota;
  private final SpillableResourceAdaptor resource;

  /** Spills all buffers that can be spilled before each allocation. */
  private static final class Spilling implements MemoryResource {
    private final MemoryResource upstream;
    private SpillManager manager;

    Spilling(MemoryResource upstream) {
      this.upstream = upstream;
    }

    @Override
    public Device device() {
      return upstream.device();
    }

    @Override
    public long allocate(long bytes, DeviceStream stream) {
      manager.spill(Long.MAX_VALUE);
      return upstream.allocate(bytes, stream);
    }

    @Override
    public void free(long address, long bytes, DeviceStream stream) {
      upstream.free(address, bytes, stream);
    }
  }

  SpillingMemory(MemoryResource memory) {
    deviceMemory = new TrackingResourceAdaptor(memory);
    hostMemory = new TrackingResourceAdaptor(new PinnedHostMemoryResource(memory.device()));
    poisoning = new PoisoningResourceAdaptor(deviceMemory);
    Spilling spilling = new Spilling(poisoning);
    manager =
        new SpillManager(
            spilling, hostMemory, Long.MAX_VALUE, true, new SpillStatistics(1), System::nanoTime);
    spilling.manager = manager;
    quota = manager.openQuota("the test", SpillLimits.DEFAULT);
    resource = quota.resource(MemoryBudget.unlimited());
  }

  SpillableResourceAdaptor resource() {
    return resource;
  }

  /** Bytes that are held in all tiers. */
  long heldBytes() {
    return quota.deviceBytes() + quota.hostBytes() + quota.diskBytes();
  }

  /** The memory held, by the call site that allocated or spilled it. */
  String report() {
    poisoning.close();
    return deviceMemory.report() + hostMemory.report();
  }

  @Override
  public void close() {
    try (manager;
        quota) {
      poisoning.close();
    }
  }
}
