// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuProperties;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.kernel.gather.GatherKernels;
import io.millrace.kernel.gather.GatherPlan;
import io.millrace.kernel.gather.GatherPlan.FixedWidthGather;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;

/** Launches the kernels of round_robin_partition.cu. One instance per device. */
final class RoundRobinKernels {
  /** The structure {@code RoundRobinArguments} of partition_arguments.cuh. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("RoundRobinArguments");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 PARTITIONS = LAYOUT.int32("partitions");
    static final KernelStructure.Int32 START_PARTITION = LAYOUT.int32("start_partition");
    static final KernelStructure.Int32 COLUMNS = LAYOUT.int32("columns");
    static final KernelStructure.Int32 TILE_CARDS = LAYOUT.int32("tile_cards");
    static final KernelStructure.Int32 TILE_DEALS = LAYOUT.int32("tile_deals");
    static final KernelStructure.Int32 CARD_TILES = LAYOUT.int32("card_tiles");
    static final KernelStructure.Int32 TILES = LAYOUT.int32("tiles");
    static final KernelStructure.Int32 WHOLE_DEALS = LAYOUT.int32("whole_deals");
    static final KernelStructure.Int32 LAST_DEAL = LAYOUT.int32("last_deal");
    static final KernelStructure.Int64 PARTITIONS_MULTIPLIER =
        LAYOUT.int64("partitions_multiplier");
    static final KernelStructure.Int64 CARD_MULTIPLIER = LAYOUT.int64("card_multiplier");
    static final KernelStructure.Array COLUMN =
        LAYOUT.array(
            "column", PartitionArguments.MovedColumn.LAYOUT, PartitionArguments.MAX_COLUMNS);

    private Arguments() {}
  }

  private static final int THREADS = 512;
  private static final int BANKS = 16;

  // One row per thread while all threads fit on the GPU at once; else eight rows per thread.
  private static final int SMALL_TILE_ROWS = THREADS;
  private static final int SMALL_TILE_CARDS = 32;
  private static final int TILE_ROWS = THREADS * 8;
  private static final int TILE_CARDS = 64;

  private final KernelModule module;
  private final int smallRows;

  RoundRobinKernels(Device device) {
    module = device.loadModule("round_robin_partition");
    smallRows = smallRows(device.properties());
  }

  /** The largest number of rows that get a thread each. */
  static int smallRows(GpuProperties gpu) {
    return gpu.multiprocessors() * gpu.threadsPerMultiprocessor();
  }

  void deal(
      GatherPlan plan,
      int partitions,
      int startPartition,
      DeviceStream stream,
      MemoryResource memory) {
    List<FixedWidthGather> fixed = new ArrayList<>(plan.fixed());
    long map = 0;
    if (plan.needsMap()) {
      map = plan.allocateScratch((long) plan.rows() * Integer.BYTES);
      fixed.add(new FixedWidthGather(0, map, Integer.BYTES));
    }
    for (int begin = 0; begin < fixed.size(); begin += PartitionArguments.MAX_COLUMNS) {
      int end = Math.min(begin + PartitionArguments.MAX_COLUMNS, fixed.size());
      launch(fixed.subList(begin, end), plan.rows(), partitions, startPartition, stream);
    }
    if (plan.needsMap()) {
      GatherKernels.of(stream.device()).gatherRest(plan, map, partitions, stream, memory);
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
    try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.ROWS, rows)
          .put(Arguments.PARTITIONS, partitions)
          .put(Arguments.START_PARTITION, startPartition)
          .put(Arguments.COLUMNS, moves.size())
          .put(Arguments.TILE_CARDS, cards)
          .put(Arguments.TILE_DEALS, deals)
          .put(Arguments.CARD_TILES, cardTiles)
          .put(Arguments.TILES, tiles)
          .put(Arguments.WHOLE_DEALS, rows / partitions)
          .put(Arguments.LAST_DEAL, rows % partitions)
          .put(Arguments.PARTITIONS_MULTIPLIER, PartitionAssigner.multiplier(partitions))
          .put(Arguments.CARD_MULTIPLIER, PartitionAssigner.multiplier(cards));
      PartitionArguments.putMoves(arguments, Arguments.COLUMN, moves);
      String name = isSmall ? "round_robin_partition_small" : "round_robin_partition";
      module.function(name).launch(tiles, THREADS, sharedBytes, stream, arguments);
    }
  }
}
