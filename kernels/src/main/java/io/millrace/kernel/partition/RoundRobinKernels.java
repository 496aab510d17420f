// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuProperties;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.kernel.gather.GatherKernels;
import io.millrace.kernel.gather.GatherPlan;
import io.millrace.kernel.gather.GatherPlan.FixedWidthGather;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Launches the kernels of round_robin_partition.cu. One a device. */
final class RoundRobinKernels {
  /** The structure {@code RoundRobinArguments} of partition_arguments.cuh. */
  static final int ARGUMENTS_BYTES = 1208;

  private static final Map<Device, RoundRobinKernels> BY_DEVICE = new ConcurrentHashMap<>();
  private static final int COLUMNS_OFFSET = 56;
  private static final int THREADS = 512;
  private static final int BANKS = 16;

  // One row a thread as long as all threads are on the GPU at once; beyond, eight rows a thread.
  private static final int SMALL_TILE_ROWS = THREADS;
  private static final int SMALL_TILE_CARDS = 32;
  private static final int TILE_ROWS = THREADS * 8;
  private static final int TILE_CARDS = 64;

  private final KernelModule module;
  private final int smallRows;

  private RoundRobinKernels(Device device) {
    module = device.loadModule("round_robin_partition");
    smallRows = smallRows(device.properties());
  }

  /** The most rows of which each gets a thread of its own. */
  static int smallRows(GpuProperties gpu) {
    return gpu.multiprocessors() * gpu.threadsPerMultiprocessor();
  }

  static RoundRobinKernels of(Device device) {
    return BY_DEVICE.computeIfAbsent(device, RoundRobinKernels::new);
  }

  void deal(
      GatherPlan moves,
      int partitions,
      int startPartition,
      DeviceStream stream,
      MemoryResource memory) {
    List<FixedWidthGather> fixed = new ArrayList<>(moves.fixed());
    long map = 0;
    if (moves.needsMap()) {
      map = moves.allocateScratch((long) moves.rows() * Integer.BYTES);
      fixed.add(new FixedWidthGather(0, map, Integer.BYTES));
    }
    for (int begin = 0; begin < fixed.size(); begin += PartitionArguments.MAX_COLUMNS) {
      int end = Math.min(begin + PartitionArguments.MAX_COLUMNS, fixed.size());
      launch(fixed.subList(begin, end), moves.rows(), partitions, startPartition, stream);
    }
    if (moves.needsMap()) {
      GatherKernels.of(stream.device()).gatherRest(moves, map, partitions, stream, memory);
    }
  }

  private void launch(
      List<FixedWidthGather> moves,
      int rows,
      int partitions,
      int startPartition,
      DeviceStream stream) {
    boolean isSmall = rows <= smallRows;
    int cards = Math.min(partitions, isSmall ? SMALL_TILE_CARDS : TILE_CARDS);
    int deals = Integer.highestOneBit((isSmall ? SMALL_TILE_ROWS : TILE_ROWS) / cards);
    int cardTiles = (partitions - 1) / cards + 1;
    int allDeals = (rows - 1) / partitions + 1;
    int tiles = cardTiles * ((allDeals - 1) / deals + 1);
    int padding = Math.max(1, BANKS / cards);
    int sharedBytes = isSmall ? 0 : cards * (deals + padding) * Long.BYTES;
    try (KernelArguments arguments = new KernelArguments(ARGUMENTS_BYTES)) {
      arguments
          .putInt(0, rows)
          .putInt(4, partitions)
          .putInt(8, startPartition)
          .putInt(12, moves.size())
          .putInt(16, cards)
          .putInt(20, deals)
          .putInt(24, cardTiles)
          .putInt(28, tiles)
          .putInt(32, rows / partitions)
          .putInt(36, rows % partitions)
          .putLong(40, PartitionAssigner.multiplier(partitions))
          .putLong(48, PartitionAssigner.multiplier(cards));
      PartitionArguments.putMoves(arguments, COLUMNS_OFFSET, moves);
      String name = isSmall ? "round_robin_partition_small" : "round_robin_partition";
      module.function(name).launch(tiles, THREADS, sharedBytes, stream, arguments);
    }
  }
}
