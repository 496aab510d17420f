// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class HostMemoryTest {
  private static final int BYTES = 64;
  private final long address = HostMemory.allocate(BYTES);

  @AfterEach
  void free() {
    HostMemory.free(address);
  }

  @Test
  void valuesOfAllWidthsAreLittleEndian() {
    HostMemory.putLong(address, 0x0807060504030201L);
    assertThat(HostMemory.getByte(address)).isEqualTo((byte) 1);
    assertThat(HostMemory.getShort(address)).isEqualTo((short) 0x0201);
    assertThat(HostMemory.getInt(address + 4)).isEqualTo(0x08070605);
    HostMemory.putShort(address, (short) -2);
    HostMemory.putByte(address + 2, (byte) 9);
    assertThat(HostMemory.getLong(address)).isEqualTo(0x080706050409fffeL);
  }

  @Test
  void floatingPointKeepsItsBits() {
    HostMemory.putFloat(address, Float.intBitsToFloat(0x7fc00001));
    HostMemory.putDouble(address + 8, -0.0);
    assertThat(HostMemory.getInt(address)).isEqualTo(0x7fc00001);
    assertThat(HostMemory.getLong(address + 8)).isEqualTo(Long.MIN_VALUE);
    assertThat(Float.floatToRawIntBits(HostMemory.getFloat(address))).isEqualTo(0x7fc00001);
    assertThat(HostMemory.getDouble(address + 8)).isEqualTo(-0.0);
  }

  @Test
  void bitsAreLeastSignificantFirst() {
    HostMemory.fill(address, BYTES, (byte) 0);
    HostMemory.putBit(address, 9, true);
    HostMemory.putBit(address, 15, true);
    HostMemory.putBit(address, 15, false);
    assertThat(HostMemory.getByte(address + 1)).isEqualTo((byte) 2);
    assertThat(HostMemory.getBit(address, 9)).isTrue();
    assertThat(HostMemory.getBit(address, 8)).isFalse();
  }

  @Test
  void onlyTheBitsOfARangeAreSet() {
    for (int first = 0; first < 20; first++) {
      for (int bits = 0; bits < 40; bits++) {
        HostMemory.fill(address, BYTES, (byte) 0);
        HostMemory.setBits(address, first, bits);
        for (int i = 0; i < BYTES * Byte.SIZE; i++) {
          assertThat(HostMemory.getBit(address, i)).isEqualTo(i >= first && i < first + bits);
        }
      }
    }
  }

  @Test
  void rangesThatOverlapAreCopied() {
    byte[] bytes = {1, 2, 3, 4, 5};
    HostMemory.copyFromArray(address, bytes, 0, 5);
    HostMemory.copy(address + 1, address, 4);
    HostMemory.copyToArray(bytes, 0, address, 5);
    assertThat(bytes).containsExactly(1, 1, 2, 3, 4);
  }

  @Test
  void kernelArgumentsAreAStructureBehindItsPointer() {
    try (KernelArguments arguments = new KernelArguments(12)) {
      arguments.putInt(8, 5).putLong(0, 7);
      long structure = HostMemory.getLong(arguments.parametersAddress());
      assertThat(HostMemory.getLong(structure)).isEqualTo(7);
      assertThat(HostMemory.getInt(structure + 8)).isEqualTo(5);
      assertThatThrownBy(() -> arguments.putLong(8, 1))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessage("offset 8 of 12 bytes");
      assertThatThrownBy(() -> arguments.putInt(-1, 1))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }
}
