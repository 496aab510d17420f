// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.concatenate;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;

/** The twin of concatenate.cu. */
final class HostConcatenateKernels implements ConcatenateKernels {

  @Override
  public void bits(
      long target, long targetBit, long source, long sourceBit, int bits, DeviceStream stream) {
    if (source == 0) {
      HostMemory.setBits(target, targetBit, bits);
      return;
    }
    int head = (int) Math.min(bits, -targetBit & (Byte.SIZE - 1));
    int tail = head + (bits - head) / Byte.SIZE * Byte.SIZE;
    copyBits(target, targetBit, source, sourceBit, 0, head);
    for (int i = head; i < tail; i += Byte.SIZE) {
      HostMemory.putByte(target + (targetBit + i) / Byte.SIZE, byteAt(source, sourceBit + i));
    }
    copyBits(target, targetBit, source, sourceBit, tail, bits);
  }

  private static void copyBits(
      long target, long targetBit, long source, long sourceBit, int begin, int end) {
    for (int i = begin; i < end; i++) {
      HostMemory.putBit(target, targetBit + i, HostMemory.getBit(source, sourceBit + i));
    }
  }

  private static byte byteAt(long source, long bit) {
    long address = source + bit / Byte.SIZE;
    int shift = (int) (bit % Byte.SIZE);
    int low = Byte.toUnsignedInt(HostMemory.getByte(address)) >>> shift;
    return (byte) (shift == 0 ? low : low | HostMemory.getByte(address + 1) << (Byte.SIZE - shift));
  }

  @Override
  public void offsets(long target, long source, int shift, int count, DeviceStream stream) {
    for (int i = 0; i < count; i++) {
      long place = (long) i * Integer.BYTES;
      HostMemory.putInt(target + place, HostMemory.getInt(source + place) + shift);
    }
  }
}
