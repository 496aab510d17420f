// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.testing.DeviceExtension;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The buffers of cuDF's page on its internals, and who owns their memory. */
class BufferTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static final long[] VALUES = {1, 2, 3};

  private StagingBuffer hostValues() {
    StagingBuffer host = device.device().stagingPool().acquire(24);
    for (int i = 0; i < VALUES.length; i++) {
      HostMemory.putLong(host.address() + 8L * i, VALUES[i]);
    }
    return host;
  }

  private long address(Buffer buffer) {
    try (AccessScope scope = AccessScope.on(device.stream())) {
      return buffer.access(AccessMode.READ, scope);
    }
  }

  private void assertHoldsValues(Buffer buffer) {
    try (StagingBuffer target = device.device().stagingPool().acquire(24);
        AccessScope scope = AccessScope.on(device.stream())) {
      device.stream().copy(target.address(), buffer.access(AccessMode.READ, scope), 24);
      device.stream().synchronize();
      for (int i = 0; i < VALUES.length; i++) {
        assertThat(HostMemory.getLong(target.address() + 8L * i)).isEqualTo(VALUES[i]);
      }
    }
  }

  @Test
  void aHostObjectIsCopiedIntoNewDeviceMemory() {
    try (StagingBuffer host = hostValues();
        Buffer buffer = Buffer.copyOf(host.address(), 24, device.stream(), device.memory())) {
      assertThat(buffer.size()).isEqualTo(24);
      assertThat(buffer.device()).isSameAs(device.device());
      assertThat(address(buffer)).isNotEqualTo(host.address());
      assertThat(device.heldBytes()).isEqualTo(24);
      assertHoldsValues(buffer);
    }
  }

  @Test
  void aDeviceObjectIsPointedAtAndReleasedOnce() {
    AtomicInteger released = new AtomicInteger();
    long address = device.memory().allocate(24, device.stream());
    Buffer buffer =
        Buffer.wrap(address, 24, device.stream(), device.memory(), released::incrementAndGet);
    Buffer shared = buffer.share();
    assertThat(device.heldBytes()).isEqualTo(24);
    assertThat(buffer.size()).isEqualTo(24);
    assertThat(address(buffer)).isEqualTo(address);
    assertThat(address(shared)).isEqualTo(address);

    buffer.close();
    buffer.close();
    assertThat(released).hasValue(0);
    shared.close();
    assertThat(released).hasValue(1);
    device.memory().free(address, 24, device.stream());
  }

  @Test
  void anUninitializedBufferHasItsSize() {
    try (Buffer buffer = Buffer.allocate(10, device.stream(), device.memory());
        Buffer empty = Buffer.allocate(0, device.stream(), device.memory())) {
      assertThat(buffer.size()).isEqualTo(10);
      assertThat(empty.size()).isZero();
      assertThat(device.heldBytes()).isEqualTo(10);
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Buffer.allocate(-1, device.stream(), device.memory()))
        .withMessage("size is negative: -1");
  }

  @Test
  void slicesPointIntoTheirOwnersMemoryAndKeepIt() {
    Buffer buffer = Buffer.allocate(100, device.stream(), device.memory());
    long address = address(buffer);
    Buffer slice = buffer.slice(10, 50);
    Buffer sliceOfSlice = slice.slice(5, 45);
    assertThat(buffer.liveSlices()).isEqualTo(3);
    assertThat(address(slice)).isEqualTo(address + 10);
    assertThat(address(sliceOfSlice)).isEqualTo(address + 15);
    assertThat(sliceOfSlice.size()).isEqualTo(45);
    buffer.close();
    slice.close();
    assertThat(device.heldBytes()).isEqualTo(100);
    assertThat(sliceOfSlice.liveSlices()).isEqualTo(1);
    sliceOfSlice.close();
    assertThat(device.heldBytes()).isZero();
  }

  @Test
  void slicesStayWithinTheirBuffer() {
    try (Buffer buffer = Buffer.allocate(100, device.stream(), device.memory())) {
      long[][] ranges = {{-1, 10}, {0, 101}, {100, 1}, {50, -1}, {1, Long.MAX_VALUE}};
      for (long[] range : ranges) {
        assertThatThrownBy(() -> buffer.slice(range[0], range[1]))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
      buffer.slice(100, 0).close();
    }
  }

  @Test
  void aClosedBufferIsNotUsed() {
    Buffer buffer = Buffer.allocate(10, device.stream(), device.memory());
    buffer.close();
    try (AccessScope scope = AccessScope.on(device.stream())) {
      assertThatIllegalStateException()
          .isThrownBy(() -> buffer.access(AccessMode.READ, scope))
          .withMessage("the buffer is closed");
    }
    assertThatIllegalStateException().isThrownBy(buffer::share);
    assertThatIllegalStateException().isThrownBy(() -> buffer.slice(0, 1));
  }

  @Test
  void aClosedScopeTakesNoAccessThatWouldNeverEnd() {
    try (Buffer buffer = Buffer.allocate(24, device.stream(), device.memory())) {
      AccessScope scope = AccessScope.on(device.stream());
      scope.close();
      assertThatIllegalStateException()
          .isThrownBy(() -> buffer.access(AccessMode.READ, scope))
          .withMessage("the access scope is closed");
    }
    assertThat(device.heldBytes()).isZero();
  }

  @Test
  void hostMemoryIsReachedFromEveryDevice() {
    try (Buffer host = Buffer.allocate(10, device.hostStream(), device.hostMemory());
        AccessScope hostScope = AccessScope.on(device.hostStream());
        AccessScope deviceScope = AccessScope.on(device.stream())) {
      assertThat(host.device()).isSameAs(HostDevice.INSTANCE);
      assertThat(host.access(AccessMode.READ, hostScope))
          .isEqualTo(host.access(AccessMode.READ, deviceScope));
    }
  }
}
