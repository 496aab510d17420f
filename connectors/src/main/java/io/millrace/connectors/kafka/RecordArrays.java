// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.kafka;

/** What there is of some records, by record. Nobody writes the arrays once they are here. */
final class RecordArrays {
  static final RecordArrays EMPTY =
      new RecordArrays(
          new byte[0], new int[1], new long[0], new long[0], new byte[0][], new byte[0][][]);

  private final byte[] bytes;
  private final int[] positions;
  private final long[] offsets;
  private final long[] timestamps;
  private final byte[][] keys;
  private final byte[][][] headers;

  /**
   * @param bytes the values, one behind the other
   * @param positions of the first byte of each value, and of the end of the last one
   * @param keys null for a record without a key
   * @param headers by header and record; null where a record lacks it
   */
  RecordArrays(
      byte[] bytes,
      int[] positions,
      long[] offsets,
      long[] timestamps,
      byte[][] keys,
      byte[][][] headers) {
    this.bytes = bytes;
    this.positions = positions;
    this.offsets = offsets;
    this.timestamps = timestamps;
    this.keys = keys;
    this.headers = headers;
  }

  int count() {
    return offsets.length;
  }

  byte[] bytes() {
    return bytes;
  }

  int[] positions() {
    return positions;
  }

  long[] offsets() {
    return offsets;
  }

  long[] timestamps() {
    return timestamps;
  }

  byte[][] keys() {
    return keys;
  }

  byte[][][] headers() {
    return headers;
  }
}
