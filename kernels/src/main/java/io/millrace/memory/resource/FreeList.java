// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import io.millrace.annotation.Internal;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;

/** Free memory, joined with its neighbours as it comes in, given out best fit. Not thread-safe. */
@Internal
public final class FreeList {
  private static final Comparator<Block> BY_SIZE =
      Comparator.comparingLong(Block::size).thenComparingLong(Block::address);

  private final TreeMap<Long, Block> byAddress = new TreeMap<>();
  private final TreeSet<Block> bySize = new TreeSet<>(BY_SIZE);

  record Block(long address, long size) {}

  public void add(long address, long size) {
    long start = address;
    long end = address + size;
    Map.Entry<Long, Block> before = byAddress.floorEntry(address);
    if (before != null && before.getValue().address() + before.getValue().size() == address) {
      start = before.getKey();
      remove(before.getValue());
    }
    Block after = byAddress.get(end);
    if (after != null) {
      end += after.size();
      remove(after);
    }
    Block block = new Block(start, end - start);
    byAddress.put(start, block);
    bySize.add(block);
  }

  boolean isEmpty() {
    return byAddress.isEmpty();
  }

  /** Whether some block has {@code size} bytes. */
  boolean has(long size) {
    return bySize.ceiling(new Block(0, size)) != null;
  }

  /** The size of the largest block; 0 if there is none. */
  long largestSize() {
    return bySize.isEmpty() ? 0 : bySize.last().size();
  }

  /** Takes {@code size} bytes, which are no more than it has, out of the largest block. */
  long takeOfLargest(long size) {
    return take(bySize.last(), size);
  }

  /** Takes {@code size} bytes out of the smallest block that has them; 0 if none does. */
  public long take(long size) {
    Block block = bySize.ceiling(new Block(0, size));
    return block == null ? 0 : take(block, size);
  }

  private long take(Block block, long size) {
    remove(block);
    if (block.size() > size) {
      add(block.address() + size, block.size() - size);
    }
    return block.address();
  }

  /** Takes the block that is exactly this range, if it is free as a whole. */
  boolean takeRange(long address, long size) {
    Map.Entry<Long, Block> entry = byAddress.floorEntry(address);
    if (entry == null) {
      return false;
    }
    Block block = entry.getValue();
    long blockEnd = block.address() + block.size();
    if (blockEnd < address + size) {
      return false;
    }
    remove(block);
    if (block.address() < address) {
      add(block.address(), address - block.address());
    }
    if (blockEnd > address + size) {
      add(address + size, blockEnd - address - size);
    }
    return true;
  }

  /** Takes the block that ends at {@code end}; returns its size, 0 if there is none. */
  public long takeEndingAt(long end) {
    Map.Entry<Long, Block> before = byAddress.lowerEntry(end);
    if (before == null || before.getKey() + before.getValue().size() != end) {
      return 0;
    }
    remove(before.getValue());
    return before.getValue().size();
  }

  /** Moves all blocks of {@code other} here. */
  void addAll(FreeList other) {
    other.byAddress.values().forEach(block -> add(block.address(), block.size()));
    other.byAddress.clear();
    other.bySize.clear();
  }

  private void remove(Block block) {
    byAddress.remove(block.address());
    bySize.remove(block);
  }
}
