// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.device.DeviceStream;
import io.millrace.device.KernelArguments;
import io.millrace.kernel.gather.GatherPlan;
import io.millrace.kernel.gather.GatherPlan.FixedWidthGather;
import java.util.List;

/**
 * More partitions than one pass takes: stable passes over the digits of the partition number,
 * lowest first, that reorder numbers and row numbers; then the offsets are found in the numbers.
 */
record MultiPassPartition(PartitionKernels kernels, GatherPlan moves, DeviceStream stream) {
  /** The structure {@code SortedOffsetsArguments} of partition_arguments.cuh. */
  static final int OFFSETS_ARGUMENTS_BYTES = 32;

  private static final int DIGIT_BITS = 10;
  private static final int ALL_BITS = ~0;
  private static final int IDS_TILE_ROWS = 4096;

  /**
   * Fills {@code map} with the source row of each output row, and the offsets.
   *
   * @param hostOffsets mapped host memory
   */
  void partition(
      PartitionArguments arguments,
      PartitionIds source,
      int partitions,
      long map,
      long hostOffsets) {
    long bytes = (long) moves.rows() * Integer.BYTES;
    long ids = moves.allocateScratch(bytes);
    int chunks = PartitionKernels.blocks(moves.rows(), IDS_TILE_ROWS);
    arguments
        .scratch(0, 0, ids, Integer.BYTES, 0)
        .chunks(chunks, IDS_TILE_ROWS, PartitionKernels.stride(chunks));
    kernels.launchIds(arguments, source.kernelSuffix(), chunks, 1, stream);

    int digits = (31 - Integer.numberOfLeadingZeros(partitions - 1)) / DIGIT_BITS + 1;
    long rowNumbers = 0;
    for (int digit = 0; digit < digits; digit++) {
      boolean isLast = digit == digits - 1;
      long nextRowNumbers = isLast ? map : moves.allocateScratch(bytes);
      long nextIds = moves.allocateScratch(bytes);
      List<FixedWidthGather> fixed =
          List.of(
              new FixedWidthGather(rowNumbers, nextRowNumbers, Integer.BYTES),
              new FixedWidthGather(ids, nextIds, Integer.BYTES));
      partitionByDigit(ids, digit, isLast, partitions, fixed);
      rowNumbers = nextRowNumbers;
      ids = nextIds;
    }
    findOffsets(ids, partitions, hostOffsets);
  }

  private void partitionByDigit(
      long ids, int digit, boolean isLast, int partitions, List<FixedWidthGather> fixed) {
    int shift = digit * DIGIT_BITS;
    int count = isLast ? ((partitions - 1) >>> shift) + 1 : 1 << DIGIT_BITS;
    try (PartitionArguments arguments = new PartitionArguments()) {
      long digitOffsets = moves.allocateScratch((count + 1L) * Integer.BYTES);
      arguments
          .size(moves.rows(), count)
          .offsets(digitOffsets, 0)
          .map(ids, Integer.BYTES, shift, isLast ? ALL_BITS : (1 << DIGIT_BITS) - 1);
      kernels.launchLarge(arguments, "map", count, fixed, moves, stream);
    }
  }

  private void findOffsets(long ids, int partitions, long hostOffsets) {
    long deviceOffsets = moves.allocateScratch((partitions + 1L) * Integer.BYTES);
    try (KernelArguments arguments = new KernelArguments(OFFSETS_ARGUMENTS_BYTES)) {
      arguments
          .putLong(0, ids)
          .putLong(8, deviceOffsets)
          .putLong(16, hostOffsets)
          .putInt(24, moves.rows())
          .putInt(28, partitions);
      int threads = PartitionKernels.SCAN_THREADS;
      kernels
          .function("partition_offsets")
          .launch(partitions / threads + 1, threads, 0, stream, arguments);
    }
  }
}
