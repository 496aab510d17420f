// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuProperties;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelFunction;
import io.millrace.device.KernelModule;
import io.millrace.device.StagingBuffer;
import io.millrace.kernel.gather.GatherKernels;
import io.millrace.kernel.gather.GatherPlan;
import io.millrace.kernel.gather.GatherPlan.FixedWidthGather;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Launches the kernels of partition.cu and partition_small.cu. One instance per device. */
final class PartitionKernels {

  // Constants of the kernels.
  private static final int WARP = 32;
  private static final int CONTROL_SLOTS = 4096;
  private static final int LARGEST_SINGLE_PASS = 1024;
  private static final int IDS_THREADS = 256;
  private static final int IDS_COUNTERS = 1024;
  static final int SCAN_THREADS = 256;
  private static final int SMALL_THREADS = 512;

  // Beyond these, three launches are faster: measured on an H200.
  private static final int SMALL_ROUNDS = 4;
  private static final int SMALL_ROUNDS_PARTITIONS = 32;

  private final GpuProperties gpu;
  private final KernelModule module;
  private final KernelModule smallModule;
  private final Map<String, Integer> residentBlocks = new ConcurrentHashMap<>();
  private final AtomicInteger launches = new AtomicInteger();

  /** Loads the kernels of {@code device}, to launch them with the shapes of {@code gpu}. */
  PartitionKernels(Device device, GpuProperties gpu) {
    this.gpu = gpu;
    module = device.loadModule("partition");
    smallModule = device.loadModule("partition_small");
  }

  /** Fills the columns of {@code plan} and returns the offsets. Waits for the offsets. */
  int[] partition(
      GatherPlan plan, PartitionIds ids, int partitions, AccessScope scope, MemoryResource memory) {
    DeviceStream stream = scope.stream();
    List<FixedWidthGather> fixed = new ArrayList<>(plan.fixed());
    boolean needsMap = plan.needsMap() || partitions > LARGEST_SINGLE_PASS;
    long map = needsMap ? plan.allocateScratch((long) plan.rows() * Integer.BYTES) : 0;
    if (needsMap) {
      fixed.add(new FixedWidthGather(0, map, Integer.BYTES));
    }
    try (StagingBuffer offsets =
            stream.device().stagingPool().acquire((partitions + 1L) * Integer.BYTES);
        PartitionArguments arguments = new PartitionArguments()) {
      long deviceOffsets = plan.allocateScratch((partitions + 1L) * Integer.BYTES);
      arguments.size(plan.rows(), partitions).offsets(deviceOffsets, offsets.address());
      ids.describe(arguments, scope);
      offsets.enqueue(
          stream,
          () -> {
            if (partitions > LARGEST_SINGLE_PASS) {
              new MultiPassPartition(this, plan, stream)
                  .partition(arguments, ids, partitions, map, offsets.address());
              GatherKernels.of(stream.device()).gatherAll(plan, map, partitions, stream, memory);
            } else {
              if (!launchSmall(arguments, ids, partitions, fixed, plan, stream)) {
                launchLarge(arguments, ids.kernelSuffix(), partitions, fixed, plan, stream);
              }
              if (plan.needsMap()) {
                GatherKernels.of(stream.device()).gatherRest(plan, map, partitions, stream, memory);
              }
            }
          });
      stream.synchronize();
      return read(offsets.address(), partitions + 1);
    }
  }

  private static int[] read(long address, int count) {
    int[] values = new int[count];
    for (int i = 0; i < count; i++) {
      values[i] = HostMemory.getInt(address + (long) i * Integer.BYTES);
    }
    return values;
  }

  KernelFunction function(String name) {
    return module.function(name);
  }

  private int nextControlSlot() {
    return Math.floorMod(launches.getAndIncrement(), CONTROL_SLOTS);
  }

  // ---- one launch ----

  private boolean launchSmall(
      PartitionArguments arguments,
      PartitionIds ids,
      int partitions,
      List<FixedWidthGather> fixed,
      GatherPlan plan,
      DeviceStream stream) {
    if (!gpu.cooperativeLaunch() || fixed.size() > PartitionArguments.MAX_COLUMNS) {
      return false;
    }
    int sharedBytes = (SMALL_THREADS / WARP * partitions + 2 * partitions + WARP) * Integer.BYTES;
    for (int rounds : new int[] {1, SMALL_ROUNDS}) {
      String name = "partition_small_" + ids.kernelSuffix() + "_" + rounds;
      int blocks = blocks(plan.rows(), SMALL_THREADS * rounds);
      boolean worthwhile = rounds == 1 || partitions <= SMALL_ROUNDS_PARTITIONS;
      if (worthwhile && blocks <= residentBlocks(name, sharedBytes)) {
        int stride = stride(blocks);
        long counts = plan.allocateScratch(((long) stride + 1) * partitions * Integer.BYTES);
        long totals = counts + (long) stride * partitions * Integer.BYTES;
        arguments
            .scratch(counts, totals, 0, 0, nextControlSlot())
            .chunks(blocks, SMALL_THREADS * rounds, stride)
            .moves(fixed)
            .launchCooperative(
                smallModule.function(name), blocks, SMALL_THREADS, sharedBytes, stream);
        return true;
      }
    }
    return false;
  }

  private int residentBlocks(String name, int sharedBytes) {
    return residentBlocks.computeIfAbsent(
        name + "/" + sharedBytes,
        key -> smallModule.function(name).residentBlocks(SMALL_THREADS, sharedBytes));
  }

  // ---- three launches ----

  void launchLarge(
      PartitionArguments arguments,
      String kernelSuffix,
      int partitions,
      List<FixedWidthGather> fixed,
      GatherPlan plan,
      DeviceStream stream) {
    int rows = plan.rows();
    ScatterTile tile = ScatterTile.of(gpu, rows, partitions);
    int chunks = blocks(rows, tile.rows());
    int stride = stride(chunks);
    int idWidth = partitions <= 1 << Byte.SIZE ? Byte.BYTES : Short.BYTES;
    long counts = plan.allocateScratch((long) stride * partitions * Integer.BYTES);
    long totals = plan.allocateScratch((long) partitions * Integer.BYTES);
    long ids = plan.allocateScratch((long) rows * idWidth);
    arguments
        .scratch(counts, totals, ids, idWidth, nextControlSlot())
        .chunks(chunks, tile.rows(), stride);
    launchIds(arguments, kernelSuffix, chunks, partitions, stream);
    arguments.launch(module.function("partition_scan"), partitions, SCAN_THREADS, 0, stream);

    KernelFunction scatter = module.function(tile.kernel());
    int sharedBytes = tile.sharedBytes(partitions);
    for (int begin = 0; begin < fixed.size(); begin += PartitionArguments.MAX_COLUMNS) {
      int end = Math.min(begin + PartitionArguments.MAX_COLUMNS, fixed.size());
      arguments
          .moves(fixed.subList(begin, end))
          .launch(scatter, chunks, tile.threads(), sharedBytes, stream);
    }
  }

  void launchIds(
      PartitionArguments arguments,
      String kernelSuffix,
      int chunks,
      int partitions,
      DeviceStream stream) {
    int sharedBytes = Math.max(IDS_COUNTERS, partitions) * Integer.BYTES;
    arguments.launch(
        module.function("partition_ids_" + kernelSuffix), chunks, IDS_THREADS, sharedBytes, stream);
  }

  static int blocks(int rows, int rowsPerBlock) {
    return (rows - 1) / rowsPerBlock + 1;
  }

  // The scan reads counts in 16-byte pieces.
  static int stride(int chunks) {
    return (chunks + 3) / 4 * 4;
  }
}
