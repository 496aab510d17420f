// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.copy;

import io.millrace.device.HostMemory;
import java.nio.ByteBuffer;
import java.util.Arrays;

/** Bytes in network byte order that grow at the end. */
final class CopyBuffer {
  private static final int INITIAL_BYTES = 1 << 16;
  private static final int KEPT_BYTES = 16 << 20;

  private ByteBuffer bytes = ByteBuffer.allocate(INITIAL_BYTES);

  /** Empties the buffer, and gives back what an unusually large table took. */
  void clear() {
    if (bytes.capacity() > KEPT_BYTES) {
      bytes = ByteBuffer.allocate(INITIAL_BYTES);
    }
    bytes.clear();
  }

  int size() {
    return bytes.position();
  }

  byte[] toByteArray() {
    return Arrays.copyOf(bytes.array(), bytes.position());
  }

  void putByte(int value) {
    ensure(Byte.BYTES);
    bytes.put((byte) value);
  }

  void putShort(int value) {
    ensure(Short.BYTES);
    bytes.putShort((short) value);
  }

  void putInt(int value) {
    ensure(Integer.BYTES);
    bytes.putInt(value);
  }

  /** Replaces four bytes at {@code position}, which were put before. */
  void putIntAt(int position, int value) {
    bytes.putInt(position, value);
  }

  void putLong(long value) {
    ensure(Long.BYTES);
    bytes.putLong(value);
  }

  /** Appends bytes of host memory. */
  void put(long address, int length) {
    ensure(length);
    HostMemory.copyToArray(bytes.array(), bytes.position(), address, length);
    bytes.position(bytes.position() + length);
  }

  private void ensure(int more) {
    if (bytes.remaining() < more) {
      int needed = Math.addExact(bytes.position(), more);
      int larger = (int) Math.max(needed, Math.min(bytes.capacity() * 2L, 1L << 30));
      bytes = ByteBuffer.wrap(Arrays.copyOf(bytes.array(), larger)).position(bytes.position());
    }
  }
}
