// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.device.DeviceStream;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelStructure;
import io.millrace.kernel.gather.GatherPlan;
import io.millrace.kernel.gather.GatherPlan.FixedWidthGather;
import java.util.List;

/**
 * Partitions into more partitions than one pass supports: stable passes over the digits of the
 * partition number, lowest first, reorder partition numbers and row numbers; then the offsets are
 * found in the sorted partition numbers.
 */
record MultiPassPartition(PartitionKernels kernels, GatherPlan plan, DeviceStream stream) {
  /** The structure {@code SortedOffsetsArguments} of partition_arguments.cuh. */
  static final class OffsetsArguments {
    static final KernelStructure LAYOUT = new KernelStructure("SortedOffsetsArguments");
    static final KernelStructure.Int64 IDS = LAYOUT.int64("ids");
    static final KernelStructure.Int64 DEVICE_OFFSETS = LAYOUT.int64("device_offsets");
    static final KernelStructure.Int64 HOST_OFFSETS = LAYOUT.int64("host_offsets");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 PARTITIONS = LAYOUT.int32("partitions");

    private OffsetsArguments() {}
  }

  private static final int DIGIT_BITS = 10;
  private static final int ALL_BITS = ~0;
  private static final int IDS_TILE_ROWS = 4096;

  /**
   * Writes the input row of each output row to {@code map}, and the offsets.
   *
   * @param hostOffsets mapped host memory
   */
  void partition(
      PartitionArguments arguments,
      PartitionIds partitionIds,
      int partitions,
      long map,
      long hostOffsets) {
    long bytes = (long) plan.rows() * Integer.BYTES;
    long ids = plan.allocateScratch(bytes);
    int chunks = PartitionKernels.blocks(plan.rows(), IDS_TILE_ROWS);
    arguments
        .scratch(0, 0, ids, Integer.BYTES, 0)
        .chunks(chunks, IDS_TILE_ROWS, PartitionKernels.stride(chunks));
    kernels.launchIds(arguments, partitionIds.kernelSuffix(), chunks, 1, stream);

    int digits = (31 - Integer.numberOfLeadingZeros(partitions - 1)) / DIGIT_BITS + 1;
    long rowNumbers = 0;
    for (int digit = 0; digit < digits; digit++) {
      boolean isLast = digit == digits - 1;
      long nextRowNumbers = isLast ? map : plan.allocateScratch(bytes);
      long nextIds = plan.allocateScratch(bytes);
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
      long digitOffsets = plan.allocateScratch((count + 1L) * Integer.BYTES);
      arguments
          .size(plan.rows(), count)
          .offsets(digitOffsets, 0)
          .map(ids, Integer.BYTES, shift, isLast ? ALL_BITS : (1 << DIGIT_BITS) - 1);
      kernels.launchLarge(arguments, "map", count, fixed, plan, stream);
    }
  }

  private void findOffsets(long ids, int partitions, long hostOffsets) {
    long deviceOffsets = plan.allocateScratch((partitions + 1L) * Integer.BYTES);
    try (KernelArguments arguments = new KernelArguments(OffsetsArguments.LAYOUT)) {
      arguments
          .put(OffsetsArguments.IDS, ids)
          .put(OffsetsArguments.DEVICE_OFFSETS, deviceOffsets)
          .put(OffsetsArguments.HOST_OFFSETS, hostOffsets)
          .put(OffsetsArguments.ROWS, plan.rows())
          .put(OffsetsArguments.PARTITIONS, partitions);
      int threads = PartitionKernels.SCAN_THREADS;
      kernels
          .function("partition_offsets")
          .launch(partitions / threads + 1, threads, 0, stream, arguments);
    }
  }
}
