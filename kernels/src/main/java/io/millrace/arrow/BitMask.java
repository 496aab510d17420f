// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;

/** Runs of bits in host memory, least significant bit first, eight bytes at a time. */
@Internal
public final class BitMask {
  private static final long ONE_IN_EACH_BYTE = 0x0101010101010101L;
  // Moves the lowest bit of byte i to bit 56 + i: 8i + 7(8 - i) = 56 + i, and no two terms meet.
  private static final long GATHER = 0x0102040810204080L;
  private static final long BIT_OF_EACH_BYTE = 0x8040201008040201L;
  private static final long LOW_SEVEN_BITS_OF_EACH_BYTE = 0x7f7f7f7f7f7f7f7fL;

  private BitMask() {}

  public static long bytes(long bits) {
    return (bits + 7) / 8;
  }

  /** Copies the bits {@code [first, first + bits)} to the start of {@code target}. */
  static void copy(long target, long source, long first, int bits) {
    int shift = (int) (first % 8);
    long from = source + first / 8;
    long bytes = bytes(bits);
    if (shift == 0) {
      HostMemory.copy(target, from, bytes);
      return;
    }
    long sourceBytes = bytes(shift + (long) bits);
    long done = 0;
    for (; done + Long.BYTES < sourceBytes; done += Long.BYTES) {
      long low = HostMemory.getLong(from + done) >>> shift;
      long high = (long) HostMemory.getByte(from + done + Long.BYTES) << (Long.SIZE - shift);
      HostMemory.putLong(target + done, low | high);
    }
    for (; done < bytes; done++) {
      int low = (HostMemory.getByte(from + done) & 0xff) >>> shift;
      int high = done + 1 < sourceBytes ? HostMemory.getByte(from + done + 1) << (8 - shift) : 0;
      HostMemory.putByte(target + done, (byte) (low | high));
    }
  }

  /** Writes one bit for each of {@code elements} bytes that are 0 or 1. */
  static void pack(long target, long source, int elements) {
    int done = 0;
    for (; elements - done >= 8; done += 8) {
      long bits = ((HostMemory.getLong(source + done) & ONE_IN_EACH_BYTE) * GATHER) >>> 56;
      HostMemory.putByte(target + done / 8, (byte) bits);
    }
    if (done < elements) {
      int bits = 0;
      for (int i = done; i < elements; i++) {
        bits |= (HostMemory.getByte(source + i) & 1) << (i - done);
      }
      HostMemory.putByte(target + done / 8, (byte) bits);
    }
  }

  /** Writes a byte, 0 or 1, for each of {@code elements} bits. */
  static void unpack(long target, long source, int elements) {
    int done = 0;
    for (; elements - done >= 8; done += 8) {
      long bits = HostMemory.getByte(source + done / 8) & 0xffL;
      long spread = (bits * ONE_IN_EACH_BYTE) & BIT_OF_EACH_BYTE;
      HostMemory.putLong(
          target + done, ((spread + LOW_SEVEN_BITS_OF_EACH_BYTE) >>> 7) & ONE_IN_EACH_BYTE);
    }
    for (; done < elements; done++) {
      HostMemory.putByte(target + done, (byte) (HostMemory.getBit(source, done) ? 1 : 0));
    }
  }
}
