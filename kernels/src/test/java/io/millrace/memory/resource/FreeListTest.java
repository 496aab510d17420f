// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.resource;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testing.RandomExtension;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class FreeListTest {
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final FreeList blocks = new FreeList();

  private record Range(int start, int size) {}

  @Test
  void neighboursAreJoined() {
    blocks.add(300, 100);
    blocks.add(100, 100);
    assertThat(blocks.has(300)).isFalse();
    blocks.add(200, 100);
    assertThat(blocks.has(300)).isTrue();
    assertThat(blocks.take(300)).isEqualTo(100);
    assertThat(blocks.has(1)).isFalse();
  }

  @Test
  void theSmallestBlockThatFitsIsTaken() {
    blocks.add(1_000, 500);
    blocks.add(3_000, 100);
    blocks.add(5_000, 200);
    assertThat(blocks.take(101)).isEqualTo(5_000);
    assertThat(blocks.take(99)).isEqualTo(5_101);
    assertThat(blocks.take(501)).isZero();
    assertThat(blocks.take(500)).isEqualTo(1_000);
  }

  @Test
  void aRangeIsTakenOnlyWhenItIsFreeAsAWhole() {
    blocks.add(100, 100);
    assertThat(blocks.takeRange(50, 10)).isFalse();
    assertThat(blocks.takeRange(150, 51)).isFalse();
    assertThat(blocks.takeRange(120, 30)).isTrue();
    assertThat(blocks.takeRange(120, 30)).isFalse();
    assertThat(blocks.take(50)).isEqualTo(150);
    assertThat(blocks.take(20)).isEqualTo(100);
  }

  @Test
  void theBlockThatEndsAtAnAddressIsTaken() {
    blocks.add(100, 100);
    blocks.add(300, 50);
    assertThat(blocks.takeEndingAt(300)).isZero();
    assertThat(blocks.takeEndingAt(100)).isZero();
    assertThat(blocks.takeEndingAt(350)).isEqualTo(50);
    assertThat(blocks.takeEndingAt(350)).isZero();
    assertThat(blocks.takeEndingAt(200)).isEqualTo(100);
    assertThat(blocks.has(1)).isFalse();
  }

  @Test
  void behavesAsABitmapDoes() {
    int size = 1_000;
    int base = 4_096;
    Random values = random.random();
    BitSet free = new BitSet();
    free.set(0, size);
    blocks.add(base, size);
    List<Range> taken = new ArrayList<>();
    for (int step = 0; step < 20_000; step++) {
      if (values.nextBoolean() && !taken.isEmpty()) {
        Range range = taken.remove(values.nextInt(taken.size()));
        blocks.add((long) base + range.start(), range.size());
        free.set(range.start(), range.start() + range.size());
      } else {
        int wanted = 1 + values.nextInt(60);
        long address = blocks.take(wanted);
        assertThat(address != 0).isEqualTo(bestFit(free, wanted) >= 0);
        if (address != 0) {
          int start = bestFit(free, wanted);
          assertThat(address).isEqualTo(base + start);
          free.clear(start, start + wanted);
          taken.add(new Range(start, wanted));
        }
      }
    }
    taken.forEach(range -> blocks.add((long) base + range.start(), range.size()));
    assertThat(blocks.take(size)).isEqualTo(base);
  }

  // The start of the smallest run of free bits that has the size; -1 if there is none.
  private static int bestFit(BitSet free, int size) {
    int best = -1;
    int bestSize = Integer.MAX_VALUE;
    for (int start = free.nextSetBit(0); start >= 0; ) {
      int end = free.nextClearBit(start);
      if (end - start >= size && end - start < bestSize) {
        best = start;
        bestSize = end - start;
      }
      start = free.nextSetBit(end);
    }
    return best;
  }
}
