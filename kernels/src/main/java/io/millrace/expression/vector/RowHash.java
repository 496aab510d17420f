// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.vector;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;
import io.millrace.kernel.hash.MurmurHash3;

/**
 * The hash that is used to sample rows and to look up constants. The twin of {@code row_hash.cuh}.
 */
@Internal
public final class RowHash {
  private RowHash() {}

  /** Mixes a value into the hash of the preceding values. */
  public static long mix(long value, long hash) {
    return MurmurHash3.finish(hash * 0x9e3779b97f4a7c15L + value);
  }

  /** Mixes bytes in host memory into a hash, eight at a time, padded with zeros. */
  public static long mixBytes(long address, int length, long seed) {
    long hash = mix(length, seed);
    int offset = 0;
    for (; offset + Long.BYTES <= length; offset += Long.BYTES) {
      hash = mix(HostMemory.getLong(address + offset), hash);
    }
    return offset < length ? mix(lastWord(address, length), hash) : hash;
  }

  /**
   * The bytes after the last whole word of a text, padded with zeros; there must be at least one.
   * Does not read beyond the text.
   */
  public static long lastWord(long address, int length) {
    if (length >= Long.BYTES) {
      long last = HostMemory.getLong(address + length - Long.BYTES);
      return last >>> ((Long.BYTES - length % Long.BYTES) * Byte.SIZE);
    } else if (length >= Integer.BYTES) {
      int second = length - Integer.BYTES;
      return bits(HostMemory.getInt(address))
          | (bits(HostMemory.getInt(address + second)) << (second * Byte.SIZE));
    }
    // One to three bytes.
    int middle = length / 2;
    int last = length - 1;
    return (HostMemory.getByte(address) & 0xffL)
        | ((HostMemory.getByte(address + middle) & 0xffL) << (middle * Byte.SIZE))
        | ((HostMemory.getByte(address + last) & 0xffL) << (last * Byte.SIZE));
  }

  private static long bits(int word) {
    return word & 0xffffffffL;
  }
}
