package io.millrace.device;

import java.lang.reflect.Field;
import java.nio.ByteOrder;
import sun.misc.Unsafe;

/**
 * Off-heap memory of this process, by address: the one place that reads and writes it. Nothing is
 * checked; an address outside an allocation crashes the process. Values are in native order, which
 * must be little-endian, as CUDA's and Arrow's are.
 */
public final class HostMemory {
  private static final Unsafe UNSAFE = unsafe();
  private static final long BYTE_ARRAY_BASE = Unsafe.ARRAY_BYTE_BASE_OFFSET;

  static {
    if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      throw new ExceptionInInitializerError("Millrace needs a little-endian machine");
    }
  }

  private HostMemory() {}

  private static Unsafe unsafe() {
    try {
      Field field = Unsafe.class.getDeclaredField("theUnsafe");
      field.setAccessible(true);
      return (Unsafe) field.get(null);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  /**
   * Allocates uninitialized memory aligned to 16 bytes.
   *
   * @throws OutOfMemoryError if the process cannot get it
   */
  public static long allocate(long bytes) {
    return UNSAFE.allocateMemory(bytes);
  }

  public static void free(long address) {
    UNSAFE.freeMemory(address);
  }

  public static void fill(long address, long bytes, byte value) {
    UNSAFE.setMemory(address, bytes, value);
  }

  /** Copies between two ranges, which may overlap. */
  public static void copy(long targetAddress, long sourceAddress, long bytes) {
    UNSAFE.copyMemory(sourceAddress, targetAddress, bytes);
  }

  public static void copyFromArray(long targetAddress, byte[] source, int offset, int bytes) {
    UNSAFE.copyMemory(source, BYTE_ARRAY_BASE + offset, null, targetAddress, bytes);
  }

  public static void copyToArray(byte[] target, int offset, long sourceAddress, int bytes) {
    UNSAFE.copyMemory(null, sourceAddress, target, BYTE_ARRAY_BASE + offset, bytes);
  }

  /**
   * Copies from an object that is an array at {@code sourceOffset} as {@code Unsafe} counts it, or
   * from an absolute address if {@code source} is null; the form in which Flink's memory segments
   * describe their memory.
   */
  public static void copyFromObject(
      long targetAddress, Object source, long sourceOffset, long bytes) {
    UNSAFE.copyMemory(source, sourceOffset, null, targetAddress, bytes);
  }

  public static byte getByte(long address) {
    return UNSAFE.getByte(address);
  }

  public static short getShort(long address) {
    return UNSAFE.getShort(address);
  }

  public static int getInt(long address) {
    return UNSAFE.getInt(address);
  }

  public static long getLong(long address) {
    return UNSAFE.getLong(address);
  }

  public static float getFloat(long address) {
    return UNSAFE.getFloat(address);
  }

  public static double getDouble(long address) {
    return UNSAFE.getDouble(address);
  }

  public static void putByte(long address, byte value) {
    UNSAFE.putByte(address, value);
  }

  public static void putShort(long address, short value) {
    UNSAFE.putShort(address, value);
  }

  public static void putInt(long address, int value) {
    UNSAFE.putInt(address, value);
  }

  public static void putLong(long address, long value) {
    UNSAFE.putLong(address, value);
  }

  public static void putFloat(long address, float value) {
    UNSAFE.putFloat(address, value);
  }

  public static void putDouble(long address, double value) {
    UNSAFE.putDouble(address, value);
  }

  /** Whether bit {@code index} of the mask (least significant bit first) is set. */
  public static boolean getBit(long maskAddress, long index) {
    return (UNSAFE.getByte(maskAddress + (index >>> 3)) >>> (index & 7) & 1) != 0;
  }

  /** Sets bit {@code index} of the mask (least significant bit first) to {@code value}. */
  public static void putBit(long maskAddress, long index, boolean value) {
    long address = maskAddress + (index >>> 3);
    int bit = 1 << (index & 7);
    int old = UNSAFE.getByte(address);
    UNSAFE.putByte(address, (byte) (value ? old | bit : old & ~bit));
  }
}
