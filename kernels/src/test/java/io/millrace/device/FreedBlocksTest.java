// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class FreedBlocksTest {
  private static final long MIB = 1L << 20;

  private final List<Long> released = new ArrayList<>();
  private final FreedBlocks blocks = new FreedBlocks(released::add);

  @Test
  void theBlockFreedLastIsTakenFirst() {
    blocks.add(1, MIB);
    blocks.add(2, MIB);
    blocks.add(3, 2 * MIB);

    assertThat(blocks.bytes()).isEqualTo(4 * MIB);
    assertThat(blocks.take(MIB)).isEqualTo(2);
    assertThat(blocks.take(MIB)).isEqualTo(1);
    assertThat(blocks.take(MIB)).isZero();
    assertThat(blocks.bytes()).isEqualTo(2 * MIB);
    assertThat(released).isEmpty();
  }

  @Test
  void blocksFreedLongestAgoAreReleasedBeyondTheLimit() {
    for (long block = 1; block <= 10; block++) {
      blocks.add(block, 8 * MIB);
    }

    assertThat(released).containsExactly(1L, 2L);
    assertThat(blocks.bytes()).isEqualTo(FreedBlocks.LIMIT_BYTES);
    blocks.clear();
    assertThat(released).hasSize(10);
    assertThat(blocks.bytes()).isZero();
  }

  @Test
  void capacitiesAreAtMostAnEighthLarger() {
    assertThat(FreedBlocks.capacity(100)).isEqualTo(100);
    assertThat(FreedBlocks.capacity(MIB)).isEqualTo(MIB);
    assertThat(FreedBlocks.capacity(MIB + 1)).isEqualTo(MIB + MIB / 8);
    assertThat(FreedBlocks.capacity(2 * MIB - 1)).isEqualTo(2 * MIB);
    assertThat(FreedBlocks.keeps(FreedBlocks.capacity(FreedBlocks.SMALLEST_BYTES - 1))).isFalse();
    assertThat(FreedBlocks.keeps(FreedBlocks.LIMIT_BYTES + 1)).isFalse();
  }

  @Test
  void theHostDeviceUsesLargeBlocksAgain() {
    HostDevice.INSTANCE.trim();
    long first = HostDevice.INSTANCE.allocate(MIB);
    HostDevice.INSTANCE.free(first);
    long second = HostDevice.INSTANCE.allocate(MIB - 1);

    assertThat(second).isEqualTo(first);
    assertThat(second % 64).isZero();
    HostDevice.INSTANCE.free(second);
    HostDevice.INSTANCE.trim();
  }
}
