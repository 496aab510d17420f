// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.function.LongConsumer;

/**
 * Keeps large blocks of host memory that were freed, for the next allocations. The process's
 * allocator returns such memory to the operating system, which maps it again page by page when it
 * is touched; page faults take longer than most operations on the bytes. The blocks freed longest
 * ago are released when there are too many. Thread-safe.
 */
final class FreedBlocks {
  /** Smaller blocks stay with the process's allocator, which reuses them itself. */
  static final long SMALLEST_BYTES = 1L << 16;

  /** The largest number of bytes to keep. */
  static final long LIMIT_BYTES = 64L << 20;

  private static final int STEPS_OF_A_SIZE = 8;

  private final LongConsumer release;
  // In the order in which they were freed.
  private final Deque<Block> blocks = new ArrayDeque<>();
  private long bytes;

  private record Block(long address, long capacity) {}

  /**
   * @param release gives the block at an address back to the process's allocator
   */
  FreedBlocks(LongConsumer release) {
    this.release = release;
  }

  /**
   * The bytes to allocate for {@code size}, rounded up so that similar sizes use the same blocks.
   */
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

  /** Takes the most recently freed block of exactly {@code capacity} bytes; 0 if there is none. */
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
