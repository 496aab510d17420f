// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.device.HostMemory;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class BitMaskTest {
  private static final int MAX_BITS = 200;
  private static final byte UNTOUCHED = 0x5a;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void countsAndCopiesAnyRange() {
    Random bits = random.random();
    try (Buffer buffer = randomBytes(bits, MAX_BITS / 4);
        Buffer copy = Buffer.allocate(MAX_BITS, device.hostStream(), device.hostMemory());
        AccessScope scope = AccessScope.on(device.hostStream())) {
      long mask = buffer.access(AccessMode.READ, scope);
      long target = copy.access(AccessMode.WRITE, scope);
      for (int first = 0; first < 20; first++) {
        for (int length = 0; length < MAX_BITS; length++) {
          int zeros = 0;
          BitMask.copy(target, mask, first, length);
          for (int i = 0; i < length; i++) {
            boolean bit = HostMemory.getBit(mask, first + i);
            zeros += bit ? 0 : 1;
            assertThat(HostMemory.getBit(target, i)).isEqualTo(bit);
          }
          assertThat(HostMemory.countZeroBits(mask, first, length)).isEqualTo(zeros);
        }
      }
    }
  }

  @Test
  void writesNoByteBeyondTheBits() {
    try (Buffer source = randomBytes(random.random(), MAX_BITS);
        Buffer copy = Buffer.allocate(MAX_BITS, device.hostStream(), device.hostMemory());
        AccessScope scope = AccessScope.on(device.hostStream())) {
      long from = source.access(AccessMode.READ, scope);
      long to = copy.access(AccessMode.WRITE, scope);
      for (int length = 0; length < MAX_BITS / 2; length++) {
        HostMemory.fill(to, copy.size(), UNTOUCHED);
        BitMask.copy(to, from, length % 8, length);
        assertThat(HostMemory.getByte(to + BitMask.bytes(length))).isEqualTo(UNTOUCHED);
        HostMemory.fill(to, copy.size(), UNTOUCHED);
        BitMask.pack(to, from, length);
        assertThat(HostMemory.getByte(to + BitMask.bytes(length))).isEqualTo(UNTOUCHED);
        BitMask.unpack(to, from, length);
        assertThat(HostMemory.getByte(to + length)).isEqualTo(UNTOUCHED);
      }
    }
  }

  @Test
  void packsWhatItUnpacks() {
    try (Buffer source = randomBytes(random.random(), MAX_BITS);
        Buffer bytes = Buffer.allocate(MAX_BITS, device.hostStream(), device.hostMemory());
        Buffer packed = Buffer.allocate(MAX_BITS, device.hostStream(), device.hostMemory());
        AccessScope scope = AccessScope.on(device.hostStream())) {
      long mask = source.access(AccessMode.READ, scope);
      long unpacked = bytes.access(AccessMode.WRITE, scope);
      long again = packed.access(AccessMode.WRITE, scope);
      for (int length = 0; length < MAX_BITS; length++) {
        BitMask.unpack(unpacked, mask, length);
        BitMask.pack(again, unpacked, length);
        for (int i = 0; i < length; i++) {
          boolean bit = HostMemory.getBit(mask, i);
          assertThat(HostMemory.getByte(unpacked + i)).isEqualTo((byte) (bit ? 1 : 0));
          assertThat(HostMemory.getBit(again, i)).isEqualTo(bit);
        }
      }
    }
  }

  private Buffer randomBytes(Random bits, int size) {
    byte[] bytes = new byte[size];
    bits.nextBytes(bytes);
    Buffer buffer = Buffer.allocate(size, device.hostStream(), device.hostMemory());
    try (AccessScope scope = AccessScope.on(device.hostStream())) {
      HostMemory.copyFromArray(buffer.access(AccessMode.WRITE, scope), bytes, 0, size);
    }
    return buffer;
  }
}
