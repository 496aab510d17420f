// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.SpillTier;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.resource.TrackingResourceAdaptor;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/** A spill manager, its quotas and their buffers, which must hold nothing once they are closed. */
final class SpillScene implements AutoCloseable {
  final TrackingResourceAdaptor hostMemory;
  final SpillManager manager;
  private final DeviceExtension device;
  private final List<Buffer> buffers = new ArrayList<>();
  private final List<SpillQuota> quotas = new ArrayList<>();

  SpillScene(DeviceExtension device, MemoryResource memory, long deviceLimitBytes) {
    this(device, memory, new PinnedHostMemoryResource(device.device()), deviceLimitBytes, true);
  }

  SpillScene(
      DeviceExtension device,
      MemoryResource memory,
      MemoryResource hostMemory,
      long deviceLimitBytes,
      boolean onDemand) {
    this(device, memory, hostMemory, deviceLimitBytes, onDemand, System::nanoTime);
  }

  SpillScene(
      DeviceExtension device,
      MemoryResource memory,
      MemoryResource hostMemory,
      long deviceLimitBytes,
      boolean onDemand,
      LongSupplier nanoClock) {
    this.device = device;
    this.hostMemory = new TrackingResourceAdaptor(hostMemory);
    this.manager =
        new SpillManager(
            memory, this.hostMemory, deviceLimitBytes, onDemand, new SpillStatistics(2), nanoClock);
  }

  SpillQuota open(SpillLimits limits) {
    SpillQuota quota = manager.openQuota("the test", limits);
    quotas.add(quota);
    return quota;
  }

  /** A buffer of {@code quota} full of {@code value}, closed with the scene. */
  Buffer filled(SpillQuota quota, int value, long bytes) {
    return filled(quota.resource(MemoryBudget.unlimited()), value, bytes);
  }

  Buffer filled(MemoryResource memory, int value, long bytes) {
    Buffer buffer = add(Buffer.allocate(bytes, device.stream(), memory));
    try (AccessScope scope = AccessScope.on(device.stream())) {
      device.stream().fill(buffer.access(AccessMode.WRITE, scope), (byte) value, bytes);
    }
    return buffer;
  }

  /** Closes {@code buffer} with the scene. */
  Buffer add(Buffer buffer) {
    buffers.add(buffer);
    return buffer;
  }

  Buffer buffer(int index) {
    return buffers.get(index);
  }

  List<SpillTier> tiers() {
    return buffers.stream().map(Buffer::tier).toList();
  }

  /** Uses a buffer, which brings it back and makes it the most recently used. */
  void touch(Buffer buffer) {
    try (AccessScope scope = AccessScope.on(device.stream())) {
      buffer.access(AccessMode.READ, scope);
    }
  }

  void assertFilled(Buffer buffer, int value) {
    try (StagingBuffer host = device.device().stagingPool().acquire(buffer.size());
        AccessScope scope = AccessScope.on(device.stream())) {
      device.stream().copy(host.address(), buffer.access(AccessMode.READ, scope), buffer.size());
      device.stream().synchronize();
      byte[] content = new byte[(int) buffer.size()];
      HostMemory.copyToArray(content, 0, host.address(), content.length);
      assertThat(content).containsOnly(value);
    }
  }

  @Override
  public void close() {
    buffers.forEach(Buffer::close);
    for (SpillQuota quota : quotas) {
      assertThat(quota.deviceBytes()).isZero();
      assertThat(quota.hostBytes()).isZero();
      assertThat(quota.diskBytes()).isZero();
      quota.close();
    }
    assertThat(manager.deviceBytes()).isZero();
    assertThat(hostMemory.heldBytes()).isZero();
    manager.close();
  }
}
