// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

/** Places in the buffer of a result, each behind the one before it. */
final class ResultLayout {
  private static final long ALIGNMENT = 64;

  private long bytes;

  /** The place of {@code size} bytes. */
  long add(long size) {
    long place = bytes;
    bytes += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return place;
  }

  /** Bytes of all places. */
  long bytes() {
    return bytes;
  }
}
