// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.SpillTier;
import io.millrace.memory.resource.LimitingResourceAdaptor;
import io.millrace.testing.DeviceExtension;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests of moves between the tiers: which buffers move, when, and that their content survives. */
class SpillManagerTest {
  private static final long BYTES = 1 << 16;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @TempDir Path directory;

  private SpillScene scene;
  private SpillQuota quota;

  private void open(MemoryResource memory, SpillLimits limits) {
    scene = new SpillScene(device, memory, Long.MAX_VALUE);
    quota = scene.open(limits);
  }

  @AfterEach
  void close() {
    scene.close();
  }

  private Buffer filled(int value) {
    return scene.filled(quota, value, BYTES);
  }

  @Test
  void whatWasLeastRecentlyUsedGoesToTheHostAndThenToDisk() {
    open(
        device.fixedMemory(),
        SpillLimits.DEFAULT
            .withDeviceBytes(2 * BYTES)
            .withHostBytes(BYTES)
            .withDisk(List.of(directory), Long.MAX_VALUE));
    for (int i = 0; i < 5; i++) {
      filled(i);
    }
    assertThat(quota.deviceBytes()).isLessThanOrEqualTo(2 * BYTES);
    assertThat(scene.tiers()).startsWith(SpillTier.DISK).endsWith(SpillTier.DEVICE);
    assertThat(quota.hostBytes()).isEqualTo(BYTES);
    for (int i = 0; i < 5; i++) {
      scene.assertFilled(scene.buffer(i), i);
    }
    SpillStatistics statistics = quota.statistics();
    assertThat(statistics.bytes(SpillTier.DEVICE, SpillTier.HOST)).isPositive();
    assertThat(statistics.bytes(SpillTier.HOST, SpillTier.DISK)).isPositive();
    assertThat(statistics.bytes(SpillTier.DISK, SpillTier.DEVICE)).isPositive();
  }

  @Test
  void anAllocationThatTheDeviceRefusesSpillsOnDemand() {
    open(new LimitingResourceAdaptor(device.fixedMemory(), 2 * BYTES), SpillLimits.DEFAULT);
    for (int i = 0; i < 4; i++) {
      filled(i);
    }
    assertThat(scene.tiers())
        .containsExactly(SpillTier.HOST, SpillTier.HOST, SpillTier.DEVICE, SpillTier.DEVICE);
    scene.assertFilled(scene.buffer(0), 0);
    assertThat(scene.tiers())
        .containsExactly(SpillTier.DEVICE, SpillTier.HOST, SpillTier.HOST, SpillTier.DEVICE);
  }

  @Test
  void whatIsInAnAccessScopeOrExposedStaysWhereItIs() {
    open(new LimitingResourceAdaptor(device.fixedMemory(), 2 * BYTES), SpillLimits.DEFAULT);
    Buffer accessed = filled(1);
    Buffer exposed = filled(2);
    try (AccessScope scope = AccessScope.on(device.stream())) {
      long address = accessed.access(AccessMode.READ, scope);
      long exposedAddress = exposed.expose(scope);
      assertThatExceptionOfType(GpuOutOfMemoryException.class).isThrownBy(() -> filled(3));
      assertThat(accessed.access(AccessMode.READ, scope)).isEqualTo(address);
      assertThat(exposed.expose(scope)).isEqualTo(exposedAddress);
    }
    filled(3);
    assertThat(scene.tiers()).containsExactly(SpillTier.HOST, SpillTier.DEVICE, SpillTier.DEVICE);
    scene.assertFilled(exposed, 2);
  }

  @Test
  void slicesMoveTogetherAndOnce() {
    open(device.fixedMemory(), SpillLimits.DEFAULT);
    Buffer whole = filled(1);
    Buffer slice = whole.slice(BYTES / 2, BYTES / 2);
    scene.add(slice);
    assertThat(scene.manager.spill(1)).isEqualTo(BYTES);
    assertThat(scene.tiers()).containsExactly(SpillTier.HOST, SpillTier.HOST);
    assertThat(quota.statistics().count(SpillTier.DEVICE, SpillTier.HOST)).isEqualTo(1);
    scene.assertFilled(whole, 1);
    assertThat(slice.tier()).isEqualTo(SpillTier.DEVICE);
    assertThat(quota.statistics().count(SpillTier.HOST, SpillTier.DEVICE)).isEqualTo(1);
  }

  @Test
  void manyBuffersGoInBatchesAndNoMoreThanWereAskedFor() {
    open(device.fixedMemory(), SpillLimits.DEFAULT);
    long bytes = 8L << 20;
    for (int i = 0; i < 14; i++) {
      scene.filled(quota, i, bytes);
    }
    assertThat(scene.manager.spill(11 * bytes)).isEqualTo(11 * bytes);
    assertThat(scene.tiers().subList(0, 11)).containsOnly(SpillTier.HOST);
    assertThat(scene.tiers().subList(11, 14)).containsOnly(SpillTier.DEVICE);
    assertThat(quota.deviceBytes()).isEqualTo(3 * bytes);
    assertThat(quota.hostBytes()).isEqualTo(11 * bytes);
    assertThat(quota.statistics().count(SpillTier.DEVICE, SpillTier.HOST)).isEqualTo(11);
    for (int i : new int[] {5, 13}) {
      scene.assertFilled(scene.buffer(i), i);
    }
  }

  @Test
  void aBufferLargerThanTheLimitIsRefusedByName() {
    open(device.fixedMemory(), SpillLimits.DEFAULT.withDeviceBytes(BYTES - 1));
    assertThatExceptionOfType(GpuOutOfMemoryException.class)
        .isThrownBy(() -> filled(1))
        .withMessageContaining("device limit of " + (BYTES - 1))
        .withMessageContaining("the test");
  }
}
