// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.spill.MemoryBudget;
import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillManager;
import io.millrace.memory.spill.SpillStatistics;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** Resources of one device that are watched: each byte that is taken from the driver comes back. */
final class WatchedResources implements AutoCloseable {
  private static final long PIECE_BYTES = 1 << 16;

  private final Device device;
  private final UnaryOperator<MemoryResource> bottomAdaptor;
  private final List<TrackingResourceAdaptor> bottoms = new ArrayList<>();
  private final List<PoolMemoryResource> pools = new ArrayList<>();
  private final List<SpillManager> managers = new ArrayList<>();

  WatchedResources(Device device) {
    this(device, UnaryOperator.identity());
  }

  /**
   * @param bottomAdaptor put over each resource that has no upstream
   */
  WatchedResources(Device device, UnaryOperator<MemoryResource> bottomAdaptor) {
    this.device = device;
    this.bottomAdaptor = bottomAdaptor;
  }

  private MemoryResource watch(MemoryResource resource) {
    TrackingResourceAdaptor bottom = new TrackingResourceAdaptor(resource);
    bottoms.add(bottom);
    return bottomAdaptor.apply(bottom);
  }

  MemoryResource host() {
    return watch(HostMemoryResource.INSTANCE);
  }

  MemoryResource pinned() {
    return watch(new StagingMemoryResource(device));
  }

  MemoryResource pinnedHost() {
    return watch(new PinnedHostMemoryResource(device));
  }

  MemoryResource cuda() {
    return watch(new CudaMemoryResource(device));
  }

  MemoryResource cudaAsync() {
    return watch(new CudaAsyncMemoryResource(device));
  }

  /** A pool whose pieces are small, so that it has many. */
  MemoryResource pool(MemoryResource upstream) {
    PoolMemoryResource pool = new PoolMemoryResource(upstream, PIECE_BYTES, 1L << 30);
    pools.add(pool);
    return pool;
  }

  /** Memory of a manager that spills on demand. */
  MemoryResource spillable(MemoryResource deviceMemory) {
    SpillManager manager =
        new SpillManager(
            deviceMemory,
            pinnedHost(),
            Long.MAX_VALUE,
            true,
            new SpillStatistics(1),
            System::nanoTime);
    managers.add(manager);
    return manager.openQuota("the test", SpillLimits.DEFAULT).resource(MemoryBudget.unlimited());
  }

  /** Gives back what pools keep unused. */
  void trim(DeviceStream stream) {
    pools.forEach(pool -> pool.trim(stream));
  }

  /** Fails if anything is held after pools gave back what they keep. */
  void assertNothingHeld() {
    try (DeviceStream stream = device.createStream()) {
      for (PoolMemoryResource pool : pools) {
        assertThat(pool.heldBytes()).isZero();
      }
      trim(stream);
      for (PoolMemoryResource pool : pools) {
        assertThat(pool.reservedBytes()).isZero();
      }
    }
    for (SpillManager manager : managers) {
      assertThat(manager.deviceBytes()).isZero();
    }
    for (TrackingResourceAdaptor bottom : bottoms) {
      assertThat(bottom.heldBytes()).as(bottom.report()).isZero();
    }
  }

  @Override
  public void close() {
    managers.forEach(SpillManager::close);
  }
}
