// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.function.LongConsumer;

/**
 * Large blocks of host memory that were freed, for the next allocations. The process's allocator
 * gives such memory back to the operating system, which hands it out again page by page as it is
 * touched: that takes longer than most operations need for the bytes. Those freed longest ago go
 * first when there are too many. Thread-safe.
 */
final class FreedBlocks {
  /** Smaller blocks are left to the process's allocator, which keeps them. */
  static final long SMALLEST_BYTES = 1L << 16;

  /** What is kept at most. */
  static final long LIMIT_BYTES = 64L << 20;

  private static final int STEPS_OF_A_SIZE = 8;

  private final LongConsumer release;
  // The one freed longest ago first.
  private final Deque<Block> blocks = new ArrayDeque<>();
  private long bytes;

  private record Block(long address, long capacity) {}

  /**
   * @param release gives the block at an address back to the process's allocator
   */
  FreedBlocks(LongConsumer release) {
    this.release = release;
  }

  /** How many bytes to allocate for {@code size}, so that similar sizes use the same blocks. */
  static long capacity(long size) {
    if (size < SMALLEST_BYTES) {
      return size;
    }
    long step = Long.highestOneBit(size) / STEPS_OF_A_SIZE;
    return (size + step - 1) & -step;
  }

  /** Whether blocks of this capacity are kept. */
  static boolean keeps(long capacity) {
    return capacity >= SMALLEST_BYTES && capacity <= LIMIT_BYTES;
  }

  /** Takes a block of exactly {@code capacity} bytes, the one freed last; 0 if there is none. */
  synchronized long take(long capacity) {
    for (Iterator<Block> next = blocks.descendingIterator(); next.hasNext(); ) {
      Block block = next.next();
      if (block.capacity() == capacity) {
        next.remove();
        bytes -= capacity;
        return block.address();
      }
    }
    return 0;
  }

  /** Takes a block that is no longer used, of a capacity that is kept. */
  synchronized void add(long address, long capacity) {
    blocks.addLast(new Block(address, capacity));
    bytes += capacity;
    while (bytes > LIMIT_BYTES) {
      releaseOldest();
    }
  }

  /** Releases all blocks. */
  synchronized void clear() {
    while (!blocks.isEmpty()) {
      releaseOldest();
    }
  }

  private void releaseOldest() {
    Block oldest = blocks.removeFirst();
    bytes -= oldest.capacity();
    release.accept(oldest.address());
  }

  /** Bytes of the blocks that are kept. */
  synchronized long bytes() {
    return bytes;
  }
}
