// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.device.HostMemory;

/** {@link ArrowLayout} in Java, done when a method returns. */
final class HostArrowLayout extends ArrowLayout {
  private static final int WIDE = 2 * Long.BYTES;

  @Override
  public void pack(long target, long source, int elements) {
    BitMask.pack(target, source, elements);
  }

  @Override
  public void unpack(long target, long source, int elements) {
    BitMask.unpack(target, source, elements);
  }

  @Override
  public void convert(
      long target,
      int targetWidth,
      Integers source,
      int elements,
      Operation operation,
      long operand) {
    for (long element = 0; element < elements; element++) {
      long value = operate(get(source, element), operation, operand);
      put(target + element * targetWidth, targetWidth, value);
    }
  }

  @Override
  public void narrowDecimals(
      long target,
      int targetWidth,
      long source,
      int elements,
      long mask,
      ArrowDecimals.Limit limit,
      long refused) {
    HostMemory.putLong(
        refused, ArrowDecimals.narrow(target, targetWidth, source, elements, mask, limit));
  }

  private static long get(Integers source, long element) {
    long at = source.address() + element * source.width();
    return switch (source.width()) {
      case Byte.BYTES ->
          source.isSigned() ? HostMemory.getByte(at) : HostMemory.getByte(at) & 0xffL;
      case Short.BYTES ->
          source.isSigned() ? HostMemory.getShort(at) : HostMemory.getShort(at) & 0xffffL;
      case Integer.BYTES ->
          source.isSigned() ? HostMemory.getInt(at) : Integer.toUnsignedLong(HostMemory.getInt(at));
      default -> HostMemory.getLong(at);
    };
  }

  private static long operate(long value, Operation operation, long operand) {
    return switch (operation) {
      case MULTIPLY -> value * operand;
      case DIVIDE -> Math.floorDiv(value, operand);
      case REMAINDER -> Math.floorMod(value, operand);
    };
  }

  private static void put(long address, int width, long value) {
    if (width == Integer.BYTES) {
      HostMemory.putInt(address, (int) value);
      return;
    }
    HostMemory.putLong(address, value);
    if (width == WIDE) {
      HostMemory.putLong(address + Long.BYTES, value >> (Long.SIZE - 1));
    }
  }
}
