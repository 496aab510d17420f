// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import java.io.IOException;

/**
 * Reads the headers of runs in the encoding RLE, one after the other: a value that is repeated, or
 * values of {@code bitWidth} bits each. Runs without values are passed by.
 */
final class HybridRuns {
  private static final int MAX_VARINT_BYTES = 5;

  private final byte[] page;
  private final int end;
  private final int bitWidth;
  private final int values;

  private int position;
  private int first;
  private int count;
  private boolean isPacked;
  private int start;
  private int value;

  /**
   * @param position of the first header in {@code page}
   * @param end behind the last run
   * @param bitWidth of a value, 0 to 32
   * @param values of all runs; what is behind them does not count
   */
  HybridRuns(byte[] page, int position, int end, int bitWidth, int values) {
    this.page = page;
    this.position = position;
    this.end = end;
    this.bitWidth = bitWidth;
    this.values = values;
  }

  /**
   * Moves to the next run.
   *
   * @return false behind the last value
   * @throws IOException if there are fewer values, or a run is not within its bytes
   */
  boolean next() throws IOException {
    first += count;
    count = 0;
    while (first < values && count == 0) {
      int header = readHeader();
      isPacked = (header & 1) != 0;
      long declared = isPacked ? (long) (header >>> 1) * Byte.SIZE : header >>> 1;
      count = (int) Math.min(declared, values - first);
      if (isPacked) {
        skipPacked(declared);
      } else {
        readValue();
      }
    }
    return count > 0;
  }

  private int readHeader() throws IOException {
    long header = 0;
    for (int i = 0; i < MAX_VARINT_BYTES; i++) {
      if (position == end) {
        throw new IOException("a page has runs of " + first + " values instead of " + values);
      }
      byte next = page[position++];
      header |= (next & 0x7fL) << (7 * i);
      if (next >= 0) {
        return (int) header;
      }
    }
    throw new IOException("a page has a run whose header does not end");
  }

  // The last run may lack the bytes behind the last value.
  private void skipPacked(long declared) throws IOException {
    long bytes = ((long) count * bitWidth + Byte.SIZE - 1) / Byte.SIZE;
    start = position;
    if (bytes > end - position) {
      throw new IOException("a page has a run of " + count + " values that does not fit it");
    }
    position += (int) Math.min(declared / Byte.SIZE * bitWidth, end - position);
  }

  private void readValue() throws IOException {
    int bytes = (bitWidth + Byte.SIZE - 1) / Byte.SIZE;
    if (bytes > end - position) {
      throw new IOException("a page ends within a run");
    }
    value = 0;
    for (int i = 0; i < bytes; i++) {
      value |= (page[position++] & 0xff) << (Byte.SIZE * i);
    }
  }

  /** The number of the values before the run. */
  int first() {
    return first;
  }

  /** The number of values of the run. */
  int count() {
    return count;
  }

  /** Whether each value has bits of its own, from {@link #start} on. */
  boolean isPacked() {
    return isPacked;
  }

  /** The position of the first packed value's bits in the page. */
  int start() {
    return start;
  }

  /** The value that is repeated, of 32 bits without sign. */
  int value() {
    return value;
  }
}
