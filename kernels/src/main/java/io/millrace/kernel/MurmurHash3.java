package io.millrace.kernel;

import io.millrace.device.HostMemory;

/** The steps of the 32-bit MurmurHash3, for little-endian words. */
final class MurmurHash3 {
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

  static int ofInt(int seed, int value) {
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
      hash = mixTail(hash, (int) longOfBytes(address + whole, length - whole));
    }
    return finish(hash, length);
  }

  /** Up to 8 bytes as a little-endian word. */
  static long longOfBytes(long address, int length) {
    long word = 0;
    for (int i = 0; i < Math.min(length, Long.BYTES); i++) {
      word |= (HostMemory.getByte(address + i) & 0xffL) << (8 * i);
    }
    return word;
  }
}
