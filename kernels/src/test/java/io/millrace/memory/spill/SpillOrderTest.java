// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.millrace.device.DeferredDevice;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.SpillTier;
import io.millrace.memory.resource.CudaAsyncMemoryResource;
import io.millrace.memory.resource.PinnedHostMemoryResource;
import io.millrace.memory.resource.TrackingResourceAdaptor;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The order of moves with the work on other streams, on a device that runs it late. */
class SpillOrderTest {
  private static final int BYTES = 8;

  @TempDir Path directory;

  private final DeferredDevice device = new DeferredDevice();
  private final TrackingResourceAdaptor memory =
      new TrackingResourceAdaptor(new CudaAsyncMemoryResource(device));
  private final TrackingResourceAdaptor hostMemory =
      new TrackingResourceAdaptor(new PinnedHostMemoryResource(device));
  private final DeviceStream owner = device.createStream();
  private final DeviceStream first = device.createStream();
  private final DeviceStream second = device.createStream();
  private final long result = device.allocate(BYTES);
  private SpillManager manager;
  private SpillQuota quota;

  /** The tier that buffers are spilled to. */
  private enum Target {
    HOST(SpillTier.HOST, Long.MAX_VALUE),
    DISK(SpillTier.DISK, 0);

    private final SpillTier tier;
    private final long hostBytes;

    Target(SpillTier tier, long hostBytes) {
      this.tier = tier;
      this.hostBytes = hostBytes;
    }
  }

  @BeforeEach
  void clearResult() {
    HostMemory.fill(result, BYTES, (byte) 0);
  }

  @AfterEach
  void close() {
    quota.close();
    manager.close();
    owner.close();
    first.close();
    second.close();
    device.free(result);
    assertThat(memory.heldBytes()).isZero();
    assertThat(hostMemory.heldBytes()).isZero();
  }

  private Buffer make(Target target, long diskBytes) {
    manager =
        new SpillManager(
            memory, hostMemory, Long.MAX_VALUE, true, new SpillStatistics(1), System::nanoTime);
    quota =
        manager.openQuota(
            "the test",
            SpillLimits.DEFAULT
                .withHostBytes(target.hostBytes)
                .withDisk(List.of(directory), diskBytes));
    Buffer buffer = Buffer.allocate(BYTES, owner, quota.resource(MemoryBudget.unlimited()));
    write(buffer, 1, owner);
    return buffer;
  }

  private Buffer make(Target target) {
    return make(target, Long.MAX_VALUE);
  }

  private void spill(Buffer buffer, Target target) {
    assertThat(manager.spill(1)).isEqualTo(BYTES);
    assertThat(buffer.tier()).isEqualTo(target.tier);
  }

  private static void write(Buffer buffer, int value, DeviceStream stream) {
    try (AccessScope scope = AccessScope.on(stream)) {
      stream.fill(buffer.access(AccessMode.WRITE, scope), (byte) value, BYTES);
    }
  }

  private void read(Buffer buffer, DeviceStream stream) {
    try (AccessScope scope = AccessScope.on(stream)) {
      stream.copy(result, buffer.access(AccessMode.READ, scope), BYTES);
    }
  }

  private void assertRead(int value) {
    assertThat(HostMemory.getByte(result)).isEqualTo((byte) value);
  }

  @ParameterizedTest
  @EnumSource
  void aMoveIsBehindTheWorkOfTheOwnersStream(Target target) {
    try (Buffer buffer = make(target)) {
      spill(buffer, target);
      read(buffer, first);
      first.synchronize();
      assertRead(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aMoveIsBehindAWriteOnAnotherStream(Target target) {
    try (Buffer buffer = make(target)) {
      write(buffer, 2, first);
      spill(buffer, target);
      read(buffer, second);
      second.synchronize();
      assertRead(2);
    }
  }

  @ParameterizedTest
  @EnumSource
  void theMemoryGoesBehindAReadOnAnotherStream(Target target) {
    try (Buffer buffer = make(target)) {
      read(buffer, first);
      spill(buffer, target);
      first.synchronize();
      assertRead(1);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aMoveWaitsForNoOtherWork(Target target) {
    try (Buffer buffer = make(target)) {
      owner.synchronize();
      second.fill(result, (byte) 9, BYTES);
      spill(buffer, target);
      write(buffer, 3, first);
      spill(buffer, target);
      assertRead(0);
      second.synchronize();
      assertRead(9);
    }
  }

  @ParameterizedTest
  @EnumSource
  void memoryThatIsBackIsMovedBehindItsNewUses(Target target) {
    try (Buffer buffer = make(target)) {
      spill(buffer, target);
      write(buffer, 2, first);
      read(buffer, second);
      spill(buffer, target);
      second.synchronize();
      assertRead(2);
      write(buffer, 3, second);
      read(buffer, first);
      first.synchronize();
      assertRead(3);
    }
  }

  @ParameterizedTest
  @EnumSource
  void memoryThatIsBackIsFreedBehindItsLastUse(Target target) {
    Buffer buffer = make(target);
    spill(buffer, target);
    read(buffer, first);
    buffer.close();
    first.synchronize();
    assertRead(1);
  }

  @ParameterizedTest
  @EnumSource
  void aSpilledBufferOutlivesItsStream(Target target) {
    try (Buffer buffer = make(target)) {
      read(buffer, first);
      spill(buffer, target);
      owner.close();
      first.close();
      read(buffer, second);
      second.synchronize();
      assertRead(1);
    }
  }

  @ParameterizedTest
  @EnumSource(names = "DISK")
  void aMoveThatFailsForgetsNoUse(Target target) {
    try (Buffer buffer = make(target, 0)) {
      read(buffer, first);
      assertThatExceptionOfType(SpillException.class).isThrownBy(() -> manager.spill(1));
      write(buffer, 2, second);
      second.synchronize();
      first.synchronize();
      assertRead(1);
    }
  }
}
