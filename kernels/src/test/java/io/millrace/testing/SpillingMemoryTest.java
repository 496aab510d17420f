// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.SpillTier;
import io.millrace.memory.resource.HostMemoryResource;
import org.junit.jupiter.api.Test;

/** Use of an address outside its scope is detected. */
class SpillingMemoryTest {
  private final Device device = HostDevice.INSTANCE;
  private final DeviceStream stream = device.createStream();

  private Buffer filled(SpillingMemory memory) {
    Buffer buffer = Buffer.allocate(8, stream, memory.resource());
    try (AccessScope scope = AccessScope.on(stream)) {
      stream.fill(buffer.access(AccessMode.WRITE, scope), (byte) 1, 8);
    }
    return buffer;
  }

  private long address(Buffer buffer) {
    try (AccessScope scope = AccessScope.on(stream)) {
      return buffer.access(AccessMode.READ, scope);
    }
  }

  @Test
  void anAllocationMovesWhatNoScopeHoldsAndPoisonsWhereItWas() {
    try (SpillingMemory memory = new SpillingMemory(HostMemoryResource.INSTANCE);
        Buffer buffer = filled(memory)) {
      long stale = address(buffer);
      try (Buffer other = filled(memory)) {
        assertThat(buffer.tier()).isEqualTo(SpillTier.HOST);
        assertThat(other.tier()).isEqualTo(SpillTier.DEVICE);
        assertThat(memory.heldBytes()).isEqualTo(16);
      }
      assertThat(HostMemory.getByte(stale)).isEqualTo(PoisoningResourceAdaptor.POISON);
      assertThat(HostMemory.getByte(address(buffer))).isEqualTo((byte) 1);
    }
  }

  @Test
  void aWriteOutsideItsScopeFailsTheTest() {
    SpillingMemory memory = new SpillingMemory(HostMemoryResource.INSTANCE);
    try (Buffer buffer = filled(memory)) {
      long stale = address(buffer);
      filled(memory).close();
      HostMemory.putByte(stale, (byte) 2);
    }
    assertThatIllegalStateException()
        .isThrownBy(memory::close)
        .withMessage("8 bytes were written to after being freed");
  }
}
