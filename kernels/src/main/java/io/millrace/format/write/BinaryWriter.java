// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.write;

/** Values in Avro's binary encoding. The twin of {@code binary_writer.cuh}. */
final class BinaryWriter {
  private static final int GROUP_BITS = 7;
  private static final int CONTINUED = 0x80;

  private BinaryWriter() {}

  /** Puts a variable-length number, whose sign is its lowest bit. */
  static void putVarint(TextSink sink, long value) {
    long bits = (value << 1) ^ (value >> (Long.SIZE - 1));
    long word = 0;
    int count = 0;
    for (; Long.compareUnsigned(bits, CONTINUED) >= 0; bits >>>= GROUP_BITS) {
      word |= ((bits & (CONTINUED - 1)) | CONTINUED) << (count * Byte.SIZE);
      if (++count == Long.BYTES) {
        sink.put(word, Long.BYTES);
        word = 0;
        count = 0;
      }
    }
    sink.put(word | bits << (count * Byte.SIZE), count + 1);
  }

  /**
   * Puts the fewest bytes of a number in two's complement, the highest one first, behind their
   * number.
   */
  static void putUnscaled(TextSink sink, long low, long high) {
    long sign = high >> (Long.SIZE - 1);
    boolean isWide = (high ^ sign) != 0;
    int bits =
        isWide
            ? 2 * Long.SIZE - Long.numberOfLeadingZeros(high ^ sign)
            : Long.SIZE - Long.numberOfLeadingZeros(low ^ sign);
    int count = bits / Byte.SIZE + 1;
    putVarint(sink, count);
    if (count > Long.BYTES) {
      putHighestFirst(sink, high, count - Long.BYTES);
      putHighestFirst(sink, low, Long.BYTES);
    } else {
      putHighestFirst(sink, low, count);
    }
  }

  private static void putHighestFirst(TextSink sink, long word, int count) {
    sink.put(Long.reverseBytes(word) >>> (Long.SIZE - count * Byte.SIZE), count);
  }
}
