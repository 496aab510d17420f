// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.SpillTier;
import io.millrace.testing.DeviceExtension;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests of work on spilled memory that stays where it is. */
class AccessInPlaceTest {
  private static final long BYTES = 1 << 16;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @TempDir Path directory;

  private SpillScene scene;
  private SpillQuota quota;

  private void open(SpillLimits limits) {
    scene = new SpillScene(device, device.fixedMemory(), Long.MAX_VALUE);
    quota = scene.open(limits);
  }

  @AfterEach
  void close() {
    scene.close();
  }

  private Buffer spilled(int value) {
    Buffer buffer = scene.filled(quota, value, BYTES);
    assertThat(scene.manager.spill(BYTES)).isEqualTo(BYTES);
    assertThat(buffer.tier()).isEqualTo(SpillTier.HOST);
    return buffer;
  }

  private void fillInPlace(Buffer buffer, int value) {
    try (AccessScope scope = AccessScope.on(device.stream())) {
      long address = buffer.accessInPlace(AccessMode.WRITE, scope);
      device.stream().fill(address, (byte) value, buffer.size());
    }
  }

  @Test
  void memoryOnTheHostStaysThereAndIsWritten() {
    open(SpillLimits.DEFAULT);
    Buffer buffer = spilled(1);
    fillInPlace(buffer, 2);
    assertThat(buffer.tier()).isEqualTo(SpillTier.HOST);
    assertThat(quota.statistics().count(SpillTier.HOST, SpillTier.DEVICE)).isZero();
    scene.assertFilled(buffer, 2);
    assertThat(buffer.tier()).isEqualTo(SpillTier.DEVICE);
  }

  @Test
  void memoryReturnsIfTheLimitsHaveRoomForIt() {
    open(SpillLimits.DEFAULT.withDeviceBytes(4 * BYTES));
    Buffer buffer = spilled(1);
    fillInPlace(buffer, 2);
    assertThat(buffer.tier()).isEqualTo(SpillTier.DEVICE);
    scene.assertFilled(buffer, 2);
  }

  @Test
  void memoryStaysIfItWouldFillTheLimit() {
    open(SpillLimits.DEFAULT.withDeviceBytes(4 * BYTES));
    Buffer buffer = spilled(1);
    for (int i = 0; i < 3; i++) {
      scene.filled(quota, 3, BYTES);
    }
    fillInPlace(buffer, 2);
    assertThat(buffer.tier()).isEqualTo(SpillTier.HOST);
  }

  private SpillTier tierOfUse(Buffer buffer) {
    try (AccessScope scope = AccessScope.on(device.stream())) {
      device.stream().fill(buffer.useInPlace(AccessMode.WRITE, scope), (byte) 2, buffer.size());
      return buffer.tier();
    }
  }

  /** As a checkpoint reads memory that it shares with a state that is updated. */
  @Test
  void memoryStaysWhileAnotherAccessIsOpen() {
    open(SpillLimits.DEFAULT.withDeviceBytes(4 * BYTES));
    Buffer buffer = spilled(1);
    Buffer shared = scene.add(buffer.share());
    List<Buffer> others =
        IntStream.range(0, 4).mapToObj(i -> scene.filled(quota, 3, BYTES)).toList();
    try (AccessScope open = AccessScope.on(device.stream())) {
      long address = buffer.accessInPlace(AccessMode.READ, open);
      assertThat(buffer.tier()).isEqualTo(SpillTier.HOST);
      others.forEach(Buffer::close);
      try (AccessScope scope = AccessScope.on(device.stream())) {
        assertThat(shared.accessInPlace(AccessMode.READ, scope)).isEqualTo(address);
        assertThat(shared.useInPlace(AccessMode.READ, scope)).isEqualTo(address);
        assertThat(shared.access(AccessMode.READ, scope)).isEqualTo(address);
      }
      assertThat(buffer.tier()).isEqualTo(SpillTier.HOST);
    }
    scene.assertFilled(shared, 1);
    assertThat(buffer.tier()).isEqualTo(SpillTier.DEVICE);
  }

  @Test
  void memoryThatIsUsedReturnsInThePlaceOfOther() {
    open(SpillLimits.DEFAULT.withDeviceBytes(4 * BYTES));
    Buffer buffer = spilled(1);
    for (int i = 0; i < 4; i++) {
      scene.filled(quota, 3, BYTES);
    }
    assertThat(tierOfUse(buffer)).isEqualTo(SpillTier.DEVICE);
    assertThat(scene.tiers()).contains(SpillTier.HOST);
    for (int i = 0; i < 3; i++) {
      scene.filled(quota, 3, BYTES);
      assertThat(tierOfUse(buffer)).isEqualTo(SpillTier.DEVICE);
    }
    scene.assertFilled(buffer, 2);
  }

  @Test
  void memoryOfMoreThanHalfTheLimitStays() {
    open(SpillLimits.DEFAULT.withDeviceBytes(4 * BYTES));
    Buffer large = scene.filled(quota, 1, 3 * BYTES);
    assertThat(scene.manager.spill(3 * BYTES)).isEqualTo(3 * BYTES);
    scene.filled(quota, 3, BYTES);
    assertThat(tierOfUse(large)).isEqualTo(SpillTier.HOST);
    scene.assertFilled(large, 2);
  }

  @Test
  void memoryThatIsLargerThanTheLimitBeginsOnTheHost() {
    open(SpillLimits.DEFAULT.withDeviceBytes(BYTES).withHostBytes(2 * BYTES));
    MemoryResource memory = quota.resource(MemoryBudget.unlimited());
    Buffer buffer = scene.add(Buffer.allocateInPlace(2 * BYTES, device.stream(), memory));
    assertThat(buffer.tier()).isEqualTo(SpillTier.HOST);
    fillInPlace(buffer, 2);
    assertThat(buffer.tier()).isEqualTo(SpillTier.HOST);
    assertThatThrownBy(() -> Buffer.allocateInPlace(2 * BYTES, device.stream(), memory))
        .isInstanceOf(GpuOutOfMemoryException.class);
  }

  @Test
  void aCopyOnWriteIsMadeOnTheHost() {
    open(SpillLimits.DEFAULT);
    Buffer buffer = spilled(1);
    Buffer shared = scene.add(buffer.share());
    fillInPlace(buffer, 2);
    assertThat(scene.tiers()).containsExactly(SpillTier.HOST, SpillTier.HOST);
    scene.assertFilled(shared, 1);
    scene.assertFilled(buffer, 2);
  }

  @Test
  void aCopyOnWriteIsMadeOnTheDeviceIfTheHostIsFull() {
    open(SpillLimits.DEFAULT.withHostBytes(BYTES));
    Buffer buffer = spilled(1);
    Buffer shared = scene.add(buffer.share());
    fillInPlace(buffer, 2);
    assertThat(scene.tiers()).containsExactly(SpillTier.DEVICE, SpillTier.HOST);
    scene.assertFilled(shared, 1);
    scene.assertFilled(buffer, 2);
  }

  @Test
  void whatWasWrittenOnTheHostGoesToDisk() {
    open(SpillLimits.DEFAULT.withHostBytes(BYTES).withDisk(List.of(directory), Long.MAX_VALUE));
    Buffer buffer = spilled(1);
    fillInPlace(buffer, 2);
    Buffer next = spilled(3);
    assertThat(scene.tiers()).containsExactly(SpillTier.DISK, SpillTier.HOST);
    scene.assertFilled(buffer, 2);
    scene.assertFilled(next, 3);
  }

  @Test
  void memoryOnDiskReturnsToTheDevice() {
    open(SpillLimits.DEFAULT.withHostBytes(0).withDisk(List.of(directory), Long.MAX_VALUE));
    Buffer buffer = scene.filled(quota, 1, BYTES);
    scene.manager.spill(BYTES);
    assertThat(buffer.tier()).isEqualTo(SpillTier.DISK);
    fillInPlace(buffer, 2);
    assertThat(buffer.tier()).isEqualTo(SpillTier.DEVICE);
    scene.assertFilled(buffer, 2);
  }

  @Test
  void memoryIsFreedBehindWorkThatUsesItOnTheHost() {
    open(SpillLimits.DEFAULT);
    Buffer buffer = spilled(1);
    try (AccessScope scope = AccessScope.on(device.stream())) {
      long address = buffer.accessInPlace(AccessMode.WRITE, scope);
      device.stream().fill(address, (byte) 2, buffer.size());
      buffer.close();
      assertThat(quota.hostBytes()).isEqualTo(BYTES);
    }
    assertThat(quota.hostBytes()).isZero();
  }
}
