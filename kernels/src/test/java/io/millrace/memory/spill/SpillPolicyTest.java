// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import static io.millrace.memory.SpillTier.DEVICE;
import static io.millrace.memory.SpillTier.DISK;
import static io.millrace.memory.SpillTier.HOST;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.SpillTier;
import io.millrace.memory.resource.FailingResourceAdaptor;
import io.millrace.memory.resource.LimitingResourceAdaptor;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.ExposureSites;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests of the spill policy: the order of buffers, their tiers, and the behaviour at each limit.
 */
class SpillPolicyTest {
  private static final long BYTES = 1 << 12;
  private static final long UNLIMITED = Long.MAX_VALUE;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @TempDir Path directory;

  private SpillScene scene;

  private SpillQuota open(SpillLimits limits) {
    scene = new SpillScene(device, device.fixedMemory(), UNLIMITED);
    return scene.open(limits);
  }

  private SpillLimits onDisk(long hostBytes, long diskBytes) {
    return SpillLimits.DEFAULT.withHostBytes(hostBytes).withDisk(List.of(directory), diskBytes);
  }

  @AfterEach
  void close() {
    scene.close();
  }

  /** As many bytes as were given to it. */
  private static final class LimitedBudget implements MemoryBudget {
    private long bytes;

    LimitedBudget(long bytes) {
      this.bytes = bytes;
    }

    @Override
    public synchronized boolean tryReserve(long reserved) {
      if (reserved > bytes) {
        return false;
      }
      bytes -= reserved;
      return true;
    }

    @Override
    public synchronized void release(long released) {
      bytes += released;
    }
  }

  @Test
  void theLeastRecentlyUsedGoesFirst() {
    SpillQuota quota = open(SpillLimits.DEFAULT);
    Buffer oldest = scene.filled(quota, 1, BYTES);
    scene.filled(quota, 2, BYTES);
    scene.filled(quota, 3, BYTES);
    scene.touch(oldest);
    assertThat(scene.manager.spill(1)).isEqualTo(BYTES);
    assertThat(scene.tiers()).containsExactly(DEVICE, HOST, DEVICE);
  }

  @Test
  void ofBuffersUsedAtTheSameTimeTheLargestGoesFirst() {
    SpillQuota quota = open(SpillLimits.DEFAULT);
    Buffer small = scene.filled(quota, 1, BYTES);
    Buffer large = scene.filled(quota, 2, 3 * BYTES);
    Buffer middle = scene.filled(quota, 3, 2 * BYTES);
    List.of(large, small, middle).forEach(scene::touch);
    assertThat(scene.manager.spill(1)).isEqualTo(3 * BYTES);
    assertThat(scene.manager.spill(1)).isEqualTo(2 * BYTES);
    assertThat(scene.tiers()).containsExactly(DEVICE, HOST, HOST);
  }

  @Test
  void aJobOverItsLimitMovesItsOwnBuffersAlone() {
    SpillQuota other = open(SpillLimits.DEFAULT);
    SpillQuota quota = scene.open(SpillLimits.DEFAULT.withDeviceBytes(2 * BYTES));
    scene.filled(other, 0, BYTES);
    for (int i = 1; i <= 3; i++) {
      scene.filled(quota, i, BYTES);
    }
    assertThat(other.hostBytes()).isZero();
    assertThat(quota.deviceBytes()).isEqualTo(BYTES);
    assertThat(scene.tiers()).containsExactly(DEVICE, HOST, HOST, DEVICE);
  }

  @Test
  void aProcessOverItsLimitMovesTheOldestOfAllJobs() {
    scene = new SpillScene(device, device.fixedMemory(), 2 * BYTES);
    SpillQuota first = scene.open(SpillLimits.DEFAULT);
    SpillQuota second = scene.open(SpillLimits.DEFAULT);
    scene.filled(first, 1, BYTES / 2);
    scene.filled(second, 2, BYTES);
    scene.filled(second, 3, BYTES);
    assertThat(scene.tiers()).containsExactly(HOST, HOST, DEVICE);
    assertThat(scene.manager.deviceBytes()).isEqualTo(BYTES);
  }

  @Test
  void aLittleMoreThanTheExcessIsMoved() {
    SpillQuota quota = open(SpillLimits.DEFAULT.withDeviceBytes(64 * BYTES));
    for (int i = 0; i < 65; i++) {
      scene.filled(quota, i, BYTES);
    }
    assertThat(quota.hostBytes()).isEqualTo(5 * BYTES);
  }

  @Test
  void theDeviceLimitIsSoft() {
    SpillQuota quota = open(SpillLimits.DEFAULT.withDeviceBytes(2 * BYTES));
    Buffer first = scene.filled(quota, 1, BYTES);
    Buffer second = scene.filled(quota, 2, BYTES);
    try (AccessScope scope = AccessScope.on(device.stream())) {
      first.access(AccessMode.READ, scope);
      second.access(AccessMode.READ, scope);
      scene.filled(quota, 3, BYTES);
      assertThat(quota.deviceBytes()).isEqualTo(3 * BYTES);
    }
    scene.assertFilled(first, 1);
  }

  @Test
  void withoutOnDemandSpillingARefusalStands() {
    scene =
        new SpillScene(
            device,
            new LimitingResourceAdaptor(device.fixedMemory(), BYTES),
            new PinnedHostMemoryResource(device.device()),
            UNLIMITED,
            false);
    SpillQuota quota = scene.open(SpillLimits.DEFAULT);
    scene.filled(quota, 1, BYTES);
    assertThatExceptionOfType(GpuOutOfMemoryException.class)
        .isThrownBy(() -> scene.filled(quota, 2, BYTES));
    assertThat(scene.tiers()).containsExactly(DEVICE);
  }

  @Test
  void whatTheHostHasNoRoomForGoesToDiskDirectly() {
    SpillQuota quota = open(onDisk(BYTES, UNLIMITED));
    Buffer large = scene.filled(quota, 1, 2 * BYTES);
    Buffer small = scene.filled(quota, 2, BYTES);
    scene.manager.spill(UNLIMITED);
    assertThat(scene.tiers()).containsExactly(DISK, HOST);
    assertThat(quota.statistics().count(DEVICE, DISK)).isEqualTo(1);
    assertThat(quota.statistics().count(HOST, DISK)).isZero();
    scene.assertFilled(large, 1);
    scene.assertFilled(small, 2);
  }

  @Test
  void whatGoesToTheHostIsThereBeforeTheDiskIsWrittenTo() {
    Set<List<SpillTier>> seen = new HashSet<>();
    AtomicLong nanos = new AtomicLong();
    scene =
        new SpillScene(
            device,
            device.fixedMemory(),
            new PinnedHostMemoryResource(device.device()),
            UNLIMITED,
            true,
            () -> {
              seen.add(scene.tiers());
              return nanos.incrementAndGet();
            });
    SpillQuota quota = scene.open(onDisk(BYTES, UNLIMITED));
    scene.filled(quota, 1, BYTES);
    scene.filled(quota, 2, BYTES);
    scene.manager.spill(UNLIMITED);
    assertThat(scene.tiers()).containsExactly(HOST, DISK);
    assertThat(seen).contains(List.of(HOST, DEVICE));
  }

  @Test
  void hostMemoryThatCannotBePinnedIsNoRoom() {
    scene =
        new SpillScene(
            device,
            device.fixedMemory(),
            FailingResourceAdaptor.everyNth(new PinnedHostMemoryResource(device.device()), 1),
            UNLIMITED,
            true);
    SpillQuota quota = scene.open(onDisk(UNLIMITED, UNLIMITED));
    Buffer buffer = scene.filled(quota, 1, BYTES);
    scene.manager.spill(1);
    assertThat(scene.tiers()).containsExactly(DISK);
    assertThat(quota.hostBytes()).isZero();
    scene.assertFilled(buffer, 1);
  }

  @Test
  void withNoRoomAnywhereABufferStays() {
    SpillQuota quota = open(SpillLimits.DEFAULT.withHostBytes(BYTES - 1));
    Buffer buffer = scene.filled(quota, 1, BYTES);
    assertThat(scene.manager.spill(1)).isZero();
    assertThat(scene.tiers()).containsExactly(DEVICE);
    scene.assertFilled(buffer, 1);
  }

  @Test
  void aPayerWithoutBudgetMovesItsOwnBuffersToDiskAlone() {
    SpillQuota quota = open(onDisk(UNLIMITED, UNLIMITED));
    MemoryResource rich = quota.resource(MemoryBudget.unlimited());
    MemoryResource poor = quota.resource(new LimitedBudget(BYTES));
    Buffer richBuffer = scene.filled(rich, 1, BYTES);
    Buffer older = scene.filled(poor, 2, BYTES);
    scene.manager.spill(UNLIMITED);
    Buffer newer = scene.filled(poor, 3, BYTES);
    scene.manager.spill(UNLIMITED);
    assertThat(scene.tiers()).containsExactly(HOST, DISK, HOST);
    scene.assertFilled(richBuffer, 1);
    scene.assertFilled(older, 2);
    scene.assertFilled(newer, 3);
  }

  @Test
  void aFullDiskFailsTheAllocationAndLosesNothing() {
    SpillQuota quota = open(onDisk(BYTES, 2 * BYTES).withDeviceBytes(BYTES));
    for (int i = 0; i < 4; i++) {
      scene.filled(quota, i, BYTES);
    }
    assertThatExceptionOfType(SpillException.class)
        .isThrownBy(() -> scene.filled(quota, 9, BYTES))
        .withMessageContaining("millrace.spill.disk-limit");
    assertThat(scene.tiers()).containsExactlyInAnyOrder(DEVICE, HOST, DISK, DISK);
    try (Buffer freed = scene.buffer(3)) {
      scene.assertFilled(freed, 3);
    }
    for (int i = 0; i < 3; i++) {
      scene.assertFilled(scene.buffer(i), i);
    }
    scene.filled(quota, 9, BYTES);
  }

  @Test
  void aFullDiskOfOneJobFailsNoOtherThatCanSpill() {
    scene =
        new SpillScene(
            device, new LimitingResourceAdaptor(device.fixedMemory(), 3 * BYTES), UNLIMITED);
    SpillQuota full = scene.open(onDisk(0, BYTES));
    SpillQuota other = scene.open(SpillLimits.DEFAULT);
    scene.filled(full, 1, BYTES);
    scene.manager.spill(1);
    scene.filled(full, 2, BYTES);
    scene.filled(full, 3, BYTES);
    scene.filled(other, 4, BYTES);
    scene.filled(other, 5, BYTES);
    assertThat(scene.tiers()).containsExactly(DISK, DEVICE, DEVICE, HOST, DEVICE);
    scene.assertFilled(scene.buffer(1), 2);
    scene.assertFilled(scene.buffer(3), 4);
  }

  @Test
  void theTimeOfACopyIsCountedHoweverLongAndLargeItIs() {
    AtomicLong nanos = new AtomicLong();
    long stepNanos = 1L << 53;
    scene =
        new SpillScene(
            device,
            device.fixedMemory(),
            new PinnedHostMemoryResource(device.device()),
            UNLIMITED,
            true,
            () -> nanos.getAndAdd(stepNanos));
    SpillQuota quota = scene.open(SpillLimits.DEFAULT);
    scene.filled(quota, 1, BYTES);
    scene.manager.spill(1);
    assertThat(quota.statistics().nanos(DEVICE, HOST)).isEqualTo(stepNanos);
  }

  @Test
  void aDirectoryThatCannotBeWrittenToIsRefusedAtOnce() throws IOException {
    open(SpillLimits.DEFAULT);
    Path file = Files.createFile(directory.resolve("file"));
    assertThatExceptionOfType(SpillException.class)
        .isThrownBy(() -> scene.open(SpillLimits.DEFAULT.withDisk(List.of(file), BYTES)))
        .withMessageContaining(file.toString());
  }

  @Test
  void memoryThatFindsNoRoomOnTheWayBackStaysSpilled() {
    LimitingResourceAdaptor limited = new LimitingResourceAdaptor(device.fixedMemory(), BYTES);
    scene = new SpillScene(device, limited, UNLIMITED);
    SpillQuota quota = scene.open(SpillLimits.DEFAULT);
    Buffer spilled = scene.filled(quota, 1, BYTES);
    Buffer other = scene.filled(quota, 2, BYTES);
    try (AccessScope scope = AccessScope.on(device.stream())) {
      other.access(AccessMode.READ, scope);
      assertThatExceptionOfType(GpuOutOfMemoryException.class)
          .isThrownBy(() -> spilled.access(AccessMode.READ, scope));
    }
    assertThat(scene.tiers()).containsExactly(HOST, DEVICE);
    scene.assertFilled(spilled, 1);
  }

  @Test
  void theSiteOfAnExposureIsItsCaller() {
    SpillQuota quota = open(SpillLimits.DEFAULT.withStatisticsLevel(2));
    Buffer buffer = scene.filled(quota, 1, BYTES);
    scene.manager.spill(1);
    try (AccessScope scope = AccessScope.on(device.stream())) {
      ExposureSites.expose(buffer, scope);
    }
    assertThat(quota.statistics().exposures())
        .singleElement()
        .satisfies(
            exposure -> {
              assertThat(exposure.site().get(0).getMethodName()).isEqualTo("expose");
              assertThat(exposure.site().get(0).getClassName())
                  .isEqualTo(ExposureSites.class.getName());
              assertThat(exposure.spilledBytes()).isEqualTo(BYTES);
            });
    assertThat(scene.manager.spill(1)).isZero();
  }
}
