// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.device.GpuProperties;
import java.util.List;

/**
 * The tiles into which the scatter of partition.cu divides the rows, one per block. The kernel's
 * name ends with its number of threads.
 *
 * @param threads threads of the block
 */
record ScatterTile(int threads) {
  /** Largest first. The smallest fits every GPU of compute capability 8.0 and up. */
  static final List<ScatterTile> ALL =
      List.of(new ScatterTile(1024), new ScatterTile(512), new ScatterTile(256));

  // Constants of the kernel.
  private static final int ROUNDS = 8;
  private static final int SLOTS = 3;
  private static final int SLOT_PADDING = 128;
  private static final int WARP = 32;

  // More partitions than this profit from the longer runs of a large tile: measured on an H200.
  private static final int LARGE_TILE_PARTITIONS = 128;

  /**
   * The tile for a table. With many partitions and enough rows for all multiprocessors it is the
   * largest tile that fits; otherwise it is the largest tile of which a multiprocessor holds two,
   * so that one block computes while the other waits for memory.
   */
  static ScatterTile of(GpuProperties gpu, int rows, int partitions) {
    List<ScatterTile> fitting =
        ALL.stream()
            .filter(tile -> tile.sharedBytes(partitions) <= gpu.sharedBytesPerBlock())
            .toList();
    ScatterTile largest = fitting.get(0);
    boolean fillsGpu = rows > (long) gpu.multiprocessors() * largest.rows();
    if (partitions > LARGE_TILE_PARTITIONS && fillsGpu) {
      return largest;
    }
    return fitting.stream()
        .filter(
            tile -> gpu.blocksPerMultiprocessor(tile.threads, tile.sharedBytes(partitions)) >= 2)
        .findFirst()
        .orElse(largest);
  }

  String kernel() {
    return "partition_scatter_" + threads;
  }

  int rows() {
    return threads * ROUNDS;
  }

  /** Dynamic shared memory of a block. */
  int sharedBytes(int partitions) {
    return SLOTS * (rows() * Long.BYTES + SLOT_PADDING) + (3 * partitions + WARP) * Integer.BYTES;
  }
}
