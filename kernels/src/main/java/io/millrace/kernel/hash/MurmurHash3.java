// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.hash;

import io.millrace.annotation.Internal;
import io.millrace.device.HostMemory;

/** The steps of the 32-bit MurmurHash3, for little-endian words. */
@Internal
public final class MurmurHash3 {
  private MurmurHash3() {}

  static int mixWord(int hash, int word) {
    return Integer.rotateLeft(mixTail(hash, word), 13) * 5 + 0xe6546b64;
  }

  /** As {@link #mixWord}, for the last bytes that do not fill a word. */
  static int mixTail(int hash, int word) {
    return hash ^ Integer.rotateLeft(word * 0xcc9e2d51, 15) * 0x1b873593;
  }

  static int mixLong(int hash, long value) {
    return mixWord(mixWord(hash, (int) value), (int) (value >>> 32));
  }

  static int finish(int hash, int length) {
    int mixed = hash ^ length;
    mixed = (mixed ^ mixed >>> 16) * 0x85ebca6b;
    mixed = (mixed ^ mixed >>> 13) * 0xc2b2ae35;
    return mixed ^ mixed >>> 16;
  }

  /** The finalizer for 64 bits. */
  public static long finish(long bits) {
    long mixed = (bits ^ bits >>> 33) * 0xff51afd7ed558ccdL;
    mixed = (mixed ^ mixed >>> 33) * 0xc4ceb9fe1a85ec53L;
    return mixed ^ mixed >>> 33;
  }

  public static int ofInt(int seed, int value) {
    return finish(mixWord(seed, value), Integer.BYTES);
  }

  static int ofLong(int seed, long value) {
    return finish(mixLong(seed, value), Long.BYTES);
  }

  static int ofBytes(int seed, long address, int length) {
    int hash = seed;
    int whole = length & -Integer.BYTES;
    for (int i = 0; i < whole; i += Integer.BYTES) {
      hash = mixWord(hash, HostMemory.getInt(address + i));
    }
    if (length > whole) {
      int tail =
          whole == 0
              ? (int) longOfBytes(address, length)
              : HostMemory.getInt(address + length - Integer.BYTES) >>> (Byte.SIZE * (-length & 3));
      hash = mixTail(hash, tail);
    }
    return finish(hash, length);
  }

  /** Mixes at least 8 bytes as longs, the last one filled up with zeros. */
  static int mixBytes(int hash, long address, int length) {
    int mixed = hash;
    int last = (length - 1) & -Long.BYTES;
    if (last > 0) {
      mixed = mixLong(mixed, HostMemory.getLong(address));
    }
    // In a method of its own, because the compiled loop is slow for few iterations.
    if (last > Long.BYTES) {
      mixed = mixLongs(mixed, address + Long.BYTES, address + last);
    }
    return mixLong(mixed, lastBytes(address, length));
  }

  private static int mixLongs(int hash, long begin, long end) {
    int mixed = hash;
    for (long address = begin; address < end; address += Long.BYTES) {
      mixed = mixLong(mixed, HostMemory.getLong(address));
    }
    return mixed;
  }

  /**
   * The last 1 to 8 of at least 8 bytes, those from a multiple of 8 on, as a little-endian word.
   */
  static long lastBytes(long address, int length) {
    return HostMemory.getLong(address + length - Long.BYTES) >>> (Byte.SIZE * (-length & 7));
  }

  /** Up to 8 bytes as a little-endian word; reads no others. */
  static long longOfBytes(long address, int length) {
    if (length >= Long.BYTES) {
      return HostMemory.getLong(address);
    }
    long word = 0;
    int done = 0;
    if ((length & Integer.BYTES) != 0) {
      word = HostMemory.getInt(address) & 0xffffffffL;
      done = Integer.BYTES;
    }
    if ((length & Short.BYTES) != 0) {
      word |= (HostMemory.getShort(address + done) & 0xffffL) << (Byte.SIZE * done);
      done += Short.BYTES;
    }
    if ((length & 1) != 0) {
      word |= (HostMemory.getByte(address + done) & 0xffL) << (Byte.SIZE * done);
    }
    return word;
  }

  /**
   * libcudf's hashes of a chunk's elements: over a value's own width; -0.0 is 0.0, all NaNs are
   * one.
   */
  static void hash(KeyVector column, int seed, int count, int[] hashes) {
    long[] values = column.values();
    switch (column.id()) {
      case BOOL, INT8 -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = finish(mixTail(seed, (int) values[i] & 0xff), Byte.BYTES);
        }
      }
      case INT16 -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = finish(mixTail(seed, (int) values[i] & 0xffff), Short.BYTES);
        }
      }
      case INT32, DECIMAL32, DATE, TIME -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = ofInt(seed, (int) values[i]);
        }
      }
      case INT64, DECIMAL64, TIMESTAMP_MILLIS, TIMESTAMP_MICROS -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = ofLong(seed, values[i]);
        }
      }
      case FLOAT32 -> {
        for (int i = 0; i < count; i++) {
          float value = Float.intBitsToFloat((int) values[i]);
          hashes[i] = ofInt(seed, Float.floatToIntBits(value == 0 ? 0 : value));
        }
      }
      case FLOAT64 -> {
        for (int i = 0; i < count; i++) {
          double value = Double.longBitsToDouble(values[i]);
          hashes[i] = ofLong(seed, Double.doubleToLongBits(value == 0 ? 0 : value));
        }
      }
      default -> hashTwoParts(column, seed, count, hashes);
    }
  }

  private static void hashTwoParts(KeyVector column, int seed, int count, int[] hashes) {
    long[] values = column.values();
    long[] seconds = column.seconds();
    switch (column.id()) {
      case TIMESTAMP_NANOS -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = ofLong(seed, values[i] * 1_000_000 + seconds[i]);
        }
      }
      case DECIMAL128 -> {
        for (int i = 0; i < count; i++) {
          int hash = mixLong(mixLong(seed, values[i]), seconds[i]);
          hashes[i] = finish(hash, 2 * Long.BYTES);
        }
      }
      case STRING, BINARY -> {
        for (int i = 0; i < count; i++) {
          hashes[i] = column.isNull(i) ? 0 : ofBytes(seed, values[i], (int) seconds[i]);
        }
      }
      default -> throw new IllegalArgumentException(column.id() + " cannot be hashed");
    }
  }
}
