// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.block;

import io.millrace.connectors.files.scan.ScanEnd;

/**
 * How many bytes the reader of a file puts into a block. The operator in the reader's chain sets
 * it, while the reader's thread may be some blocks ahead; an operator that is not in the chain
 * cannot, and blocks then stay as small as the first one.
 */
final class BlockLimit {
  /** The most bytes of a block, unless a line is longer. */
  static final int MAX_BYTES = 4 << 20;

  private static final int FIRST_BYTES = 64 << 10;

  private final ScanEnd end;
  private volatile int bytes = FIRST_BYTES;

  /**
   * @param end of the subtask's readers
   */
  BlockLimit(ScanEnd end) {
    this.end = end;
  }

  int bytes() {
    return bytes;
  }

  /** Asks for no further block of any file. */
  void end() {
    end.reach();
  }

  boolean isEnded() {
    return end.isReached();
  }

  /** Asks for this many bytes in the next block. */
  void set(long newBytes) {
    bytes = (int) Math.max(1, Math.min(MAX_BYTES, newBytes));
  }
}
