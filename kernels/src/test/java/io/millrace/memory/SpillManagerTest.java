package io.millrace.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.testing.DeviceExtension;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What is moved between the tiers, when, and that its content comes back. */
class SpillManagerTest {
  private static final long BYTES = 1 << 16;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @TempDir Path directory;

  private final List<Buffer> buffers = new ArrayList<>();
  private TrackingResourceAdaptor hostMemory;
  private SpillManager manager;
  private SpillShare share;

  @BeforeEach
  void setUp() {
    hostMemory = new TrackingResourceAdaptor(new PinnedHostMemoryResource(device.device()));
  }

  private void open(MemoryResource memory, SpillLimits limits) {
    manager =
        new SpillManager(
            memory, hostMemory, Long.MAX_VALUE, true, new SpillStatistics(1), System::nanoTime);
    share = manager.openShare("the test", limits);
  }

  @AfterEach
  void closeAll() {
    buffers.forEach(Buffer::close);
    assertThat(share.deviceBytes()).isZero();
    assertThat(share.hostBytes()).isZero();
    assertThat(share.diskBytes()).isZero();
    assertThat(hostMemory.heldBytes()).isZero();
    share.close();
    manager.close();
  }

  private Buffer filled(int value) {
    Buffer buffer =
        Buffer.allocate(BYTES, device.stream(), share.resource(MemoryBudget.unlimited()));
    buffers.add(buffer);
    try (AccessScope scope = AccessScope.on(device.stream())) {
      device.stream().fill(buffer.access(AccessMode.WRITE, scope), (byte) value, BYTES);
    }
    return buffer;
  }

  private void assertFilled(Buffer buffer, int value) {
    try (StagingBuffer host = device.device().stagingPool().acquire(BYTES);
        AccessScope scope = AccessScope.on(device.stream())) {
      device.stream().copy(host.address(), buffer.access(AccessMode.READ, scope), BYTES);
      device.stream().synchronize();
      for (long i = 0; i < BYTES; i++) {
        assertThat(HostMemory.getByte(host.address() + i)).isEqualTo((byte) value);
      }
    }
  }

  private List<SpillTier> tiers() {
    return buffers.stream().map(Buffer::tier).toList();
  }

  @Test
  void whatWasLeastRecentlyUsedGoesToTheHostAndThenToDisk() {
    open(
        device.memory(),
        SpillLimits.DEFAULT
            .withDeviceBytes(2 * BYTES)
            .withHostBytes(BYTES)
            .withDisk(List.of(directory), Long.MAX_VALUE));
    for (int i = 0; i < 5; i++) {
      filled(i);
    }
    assertThat(share.deviceBytes()).isLessThanOrEqualTo(2 * BYTES);
    assertThat(tiers()).startsWith(SpillTier.DISK).endsWith(SpillTier.DEVICE);
    assertThat(share.hostBytes()).isEqualTo(BYTES);
    for (int i = 0; i < 5; i++) {
      assertFilled(buffers.get(i), i);
    }
    SpillStatistics statistics = share.statistics();
    assertThat(statistics.bytes(SpillTier.DEVICE, SpillTier.HOST)).isPositive();
    assertThat(statistics.bytes(SpillTier.HOST, SpillTier.DISK)).isPositive();
    assertThat(statistics.bytes(SpillTier.DISK, SpillTier.DEVICE)).isPositive();
  }

  @Test
  void anAllocationThatTheDeviceRefusesSpillsOnDemand() {
    open(new LimitingResourceAdaptor(device.memory(), 2 * BYTES), SpillLimits.DEFAULT);
    for (int i = 0; i < 4; i++) {
      filled(i);
    }
    assertThat(tiers())
        .containsExactly(SpillTier.HOST, SpillTier.HOST, SpillTier.DEVICE, SpillTier.DEVICE);
    assertFilled(buffers.get(0), 0);
    assertThat(tiers())
        .containsExactly(SpillTier.DEVICE, SpillTier.HOST, SpillTier.HOST, SpillTier.DEVICE);
  }

  @Test
  void whatIsInAnAccessScopeOrExposedStaysWhereItIs() {
    open(new LimitingResourceAdaptor(device.memory(), 2 * BYTES), SpillLimits.DEFAULT);
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
    assertThat(tiers()).containsExactly(SpillTier.HOST, SpillTier.DEVICE, SpillTier.DEVICE);
    assertFilled(exposed, 2);
  }

  @Test
  void slicesMoveTogetherAndOnce() {
    open(device.memory(), SpillLimits.DEFAULT);
    Buffer whole = filled(1);
    Buffer slice = whole.slice(BYTES / 2, BYTES / 2);
    buffers.add(slice);
    assertThat(manager.spill(1)).isEqualTo(BYTES);
    assertThat(tiers()).containsExactly(SpillTier.HOST, SpillTier.HOST);
    assertThat(share.statistics().count(SpillTier.DEVICE, SpillTier.HOST)).isEqualTo(1);
    assertFilled(whole, 1);
    assertThat(slice.tier()).isEqualTo(SpillTier.DEVICE);
    assertThat(share.statistics().count(SpillTier.HOST, SpillTier.DEVICE)).isEqualTo(1);
  }

  @Test
  void aBufferLargerThanTheLimitIsRefusedByName() {
    open(device.memory(), SpillLimits.DEFAULT.withDeviceBytes(BYTES - 1));
    assertThatExceptionOfType(GpuOutOfMemoryException.class)
        .isThrownBy(() -> filled(1))
        .withMessageContaining("device limit of " + (BYTES - 1))
        .withMessageContaining("the test");
  }
}
