// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.block;

import io.millrace.connectors.files.scan.ScanEnd;
import java.io.Serializable;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * How many bytes the readers of a subtask put into a block, and the arrays that they read into. It
 * is a part of the format that makes the readers, as {@link ScanEnd} is. The operator in the
 * readers' chain sets it, while their thread may be some blocks ahead; an operator that is not in
 * the chain cannot, and blocks then stay as small as the first one.
 */
final class BlockLimit implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The most bytes of a block, unless a line is longer. */
  static final int MAX_BYTES = 4 << 20;

  /** What an array has room for beside a block: the start of the next one. */
  static final int SPARE_BYTES = 64 << 10;

  private static final int FIRST_BYTES = 64 << 10;
  // As many blocks as wait between the two threads.
  private static final int KEPT_ARRAYS = 4;
  private static final int MAX_ARRAY_BYTES = Integer.MAX_VALUE - 8;

  private final ScanEnd end = new ScanEnd();
  // New arrays of megabytes for each block keep the garbage collector busy.
  private final Queue<byte[]> arrays = new ArrayBlockingQueue<>(KEPT_ARRAYS);
  private volatile int bytes = FIRST_BYTES;

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

  /** An array with room for a number of bytes and {@link #SPARE_BYTES}, and with any content. */
  byte[] takeArray(int least) {
    int capacity = capacity(least);
    byte[] array = arrays.poll();
    while (array != null && array.length < capacity) {
      array = arrays.poll();
    }
    return array == null ? new byte[capacity] : array;
  }

  // Of few sizes, so that an array serves again where the limit changes.
  private static int capacity(int least) {
    long power = Long.highestOneBit(Math.max(1, 2L * least - 1));
    return (int) Math.min(power + SPARE_BYTES, MAX_ARRAY_BYTES);
  }

  /**
   * Takes back an array of {@link #takeArray}, which the caller no longer uses; one that a long
   * line needed is not kept.
   */
  void giveBack(byte[] array) {
    if (array.length <= MAX_BYTES + SPARE_BYTES) {
      arrays.offer(array);
    }
  }
}
