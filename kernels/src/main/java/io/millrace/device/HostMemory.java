// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.arrow.memory.util.MemoryUtil;

/**
 * Off-heap memory of this process, by address: the only class that reads and writes it, through
 * Arrow's {@link MemoryUtil}. Nothing is checked; an address outside an allocation crashes the
 * process. Values are in native order, which must be little-endian, as CUDA's and Arrow's are.
 */
@PublicEvolving
public final class HostMemory {
  // Up to this size a loop is faster than a bulk copy through buffers.
  private static final int FEW_WORDS = 16;

  static {
    if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new ExceptionInInitializerError("Millrace needs a little-endian machine");
    }
    initializeMemoryUtil();
  }

  // It makes a logger, which the first time Log4j refuses an interrupted thread, for the process.
  private static void initializeMemoryUtil() {
    boolean interrupted = Thread.interrupted();
    try {
      MemoryUtil.freeMemory(0);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private HostMemory() {}

  /**
   * Allocates uninitialized memory aligned to 16 bytes.
   *
   * @throws OutOfMemoryError if the process cannot allocate it
   */
  public static long allocate(long bytes) {
    return MemoryUtil.allocateMemory(bytes);
  }

  public static void free(long address) {
    MemoryUtil.freeMemory(address);
  }

  public static void fill(long address, long bytes, byte value) {
    MemoryUtil.setMemory(address, bytes, value);
  }

  /** Copies between two ranges, which may overlap. */
  public static void copy(long targetAddress, long sourceAddress, long bytes) {
    MemoryUtil.copyMemory(sourceAddress, targetAddress, bytes);
  }

  public static void copyFromArray(long targetAddress, byte[] source, int offset, int bytes) {
    MemoryUtil.copyToMemory(source, offset, targetAddress, bytes);
  }

  public static void copyToArray(byte[] target, int offset, long sourceAddress, int bytes) {
    MemoryUtil.copyFromMemory(sourceAddress, target, offset, bytes);
  }

  /** Copies {@code count} longs to the array's beginning. */
  public static void copyToArray(long[] target, long sourceAddress, int count) {
    if (count <= FEW_WORDS) {
      for (int i = 0; i < count; i++) {
        target[i] = getLong(sourceAddress + (long) i * Long.BYTES);
      }
      return;
    }
    words(sourceAddress, count).asLongBuffer().get(target, 0, count);
  }

  /** Copies {@code count} doubles, bit for bit, to the array's beginning. */
  public static void copyToArray(double[] target, long sourceAddress, int count) {
    if (count <= FEW_WORDS) {
      for (int i = 0; i < count; i++) {
        target[i] = getDouble(sourceAddress + (long) i * Double.BYTES);
      }
      return;
    }
    words(sourceAddress, count).asDoubleBuffer().get(target, 0, count);
  }

  /** Copies the array's first {@code count} longs. */
  public static void copyFromArray(long targetAddress, long[] source, int count) {
    if (count <= FEW_WORDS) {
      for (int i = 0; i < count; i++) {
        putLong(targetAddress + (long) i * Long.BYTES, source[i]);
      }
      return;
    }
    words(targetAddress, count).asLongBuffer().put(source, 0, count);
  }

  /** Copies the array's first {@code count} doubles, bit for bit. */
  public static void copyFromArray(long targetAddress, double[] source, int count) {
    if (count <= FEW_WORDS) {
      for (int i = 0; i < count; i++) {
        putDouble(targetAddress + (long) i * Double.BYTES, source[i]);
      }
      return;
    }
    words(targetAddress, count).asDoubleBuffer().put(source, 0, count);
  }

  private static ByteBuffer words(long address, int count) {
    return byteBuffer(address, count * Long.BYTES).order(ByteOrder.nativeOrder());
  }

  /** A direct buffer over memory that it does not own. */
  public static ByteBuffer byteBuffer(long address, int bytes) {
    return MemoryUtil.directBuffer(address, bytes);
  }

  /** The address of a direct buffer's memory, which lives as long as the buffer is reachable. */
  public static long address(ByteBuffer direct) {
    return MemoryUtil.getByteBufferAddress(direct);
  }

  public static byte getByte(long address) {
    return MemoryUtil.getByte(address);
  }

  public static short getShort(long address) {
    return MemoryUtil.getShort(address);
  }

  public static int getInt(long address) {
    return MemoryUtil.getInt(address);
  }

  public static long getLong(long address) {
    return MemoryUtil.getLong(address);
  }

  public static float getFloat(long address) {
    return Float.intBitsToFloat(MemoryUtil.getInt(address));
  }

  public static double getDouble(long address) {
    return Double.longBitsToDouble(MemoryUtil.getLong(address));
  }

  public static void putByte(long address, byte value) {
    MemoryUtil.putByte(address, value);
  }

  public static void putShort(long address, short value) {
    MemoryUtil.putShort(address, value);
  }

  public static void putInt(long address, int value) {
    MemoryUtil.putInt(address, value);
  }

  public static void putLong(long address, long value) {
    MemoryUtil.putLong(address, value);
  }

  public static void putFloat(long address, float value) {
    MemoryUtil.putInt(address, Float.floatToRawIntBits(value));
  }

  public static void putDouble(long address, double value) {
    MemoryUtil.putLong(address, Double.doubleToRawLongBits(value));
  }

  /** Whether bit {@code index} of the mask (least significant bit first) is set. */
  public static boolean getBit(long maskAddress, long index) {
    return (MemoryUtil.getByte(maskAddress + (index >>> 3)) >>> (index & 7) & 1) != 0;
  }

  /** The number of zero bits among the bits {@code [first, first + bits)} of the mask. */
  public static int countZeroBits(long maskAddress, long first, int bits) {
    int ones = 0;
    int done = 0;
    while (done < bits && (first + done) % 8 != 0) {
      ones += getBit(maskAddress, first + done) ? 1 : 0;
      done++;
    }
    long address = maskAddress + (first + done) / 8;
    for (; bits - done >= Long.SIZE; done += Long.SIZE, address += Long.BYTES) {
      ones += Long.bitCount(getLong(address));
    }
    for (; done < bits; done++) {
      ones += getBit(maskAddress, first + done) ? 1 : 0;
    }
    return bits - ones;
  }

  /** Sets bit {@code index} of the mask (least significant bit first) to {@code value}. */
  public static void putBit(long maskAddress, long index, boolean value) {
    long address = maskAddress + (index >>> 3);
    int bit = 1 << (index & 7);
    int old = MemoryUtil.getByte(address);
    MemoryUtil.putByte(address, (byte) (value ? old | bit : old & ~bit));
  }

  /** Sets the bits {@code [first, first + bits)} of the mask. */
  public static void setBits(long maskAddress, long first, int bits) {
    int head = (int) Math.min(bits, -first & (Byte.SIZE - 1));
    int bytes = (bits - head) / Byte.SIZE;
    for (int i = 0; i < head; i++) {
      putBit(maskAddress, first + i, true);
    }
    fill(maskAddress + (first + head) / Byte.SIZE, bytes, (byte) 0xff);
    for (int i = head + bytes * Byte.SIZE; i < bits; i++) {
      putBit(maskAddress, first + i, true);
    }
  }
}
