// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;

/** Places in the buffer of a result, each behind the one before it. */
@Internal
public final class ResultLayout {
  private static final long ALIGNMENT = 64;

  private long bytes;

  /** The place of {@code size} bytes. */
  public long add(long size) {
    long place = bytes;
    bytes += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return place;
  }

  /** Bytes of all places. */
  public long bytes() {
    return bytes;
  }
}
