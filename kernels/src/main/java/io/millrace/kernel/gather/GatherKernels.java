// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.gather;

import io.millrace.annotation.Internal;
import io.millrace.column.Column;
import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelFunction;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Launches the kernels of gather.cu. One instance per device. */
@Internal
public final class GatherKernels implements RowGather {
  private static final Map<Device, GatherKernels> BY_DEVICE = new ConcurrentHashMap<>();
  private static final int MAX_BUFFERS = 48;
  private static final int THREADS = 256;
  private static final int ROWS_PER_BLOCK = THREADS * 4;
  private static final int TOTAL_BLOCKS = 1 << 10;

  /** The structure {@code GatheredBuffer} of gather_arguments.cuh. */
  static final class BufferFields {
    static final KernelStructure LAYOUT = new KernelStructure("GatheredBuffer");
    static final KernelStructure.Int64 INPUT = LAYOUT.int64("input");
    static final KernelStructure.Int64 OUTPUT = LAYOUT.int64("output");
    static final KernelStructure.Int32 WIDTH = LAYOUT.int32("width");
    static final KernelStructure.Int32 BIT_OFFSET = LAYOUT.int32("bit_offset");
  }

  /** The structure {@code GatherArguments} of gather_arguments.cuh. */
  public static final class Arguments {
    public static final KernelStructure LAYOUT = new KernelStructure("GatherArguments");
    static final KernelStructure.Int64 MAP = LAYOUT.int64("map");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 BUFFERS = LAYOUT.int32("buffers");
    static final KernelStructure.Array BUFFER =
        LAYOUT.array("buffer", BufferFields.LAYOUT, MAX_BUFFERS);

    private Arguments() {}
  }

  /** The structure {@code GatherRunsArguments} of gather_arguments.cuh. */
  public static final class RunsArguments {
    public static final KernelStructure LAYOUT = new KernelStructure("GatherRunsArguments");
    static final KernelStructure.Int64 MAP = LAYOUT.int64("map");
    static final KernelStructure.Int64 INPUT_OFFSETS = LAYOUT.int64("input_offsets");
    static final KernelStructure.Int64 INPUT_BYTES = LAYOUT.int64("input_bytes");
    static final KernelStructure.Int64 OUTPUT_OFFSETS = LAYOUT.int64("output_offsets");
    static final KernelStructure.Int64 OUTPUT = LAYOUT.int64("output");
    static final KernelStructure.Int64 SCRATCH = LAYOUT.int64("scratch");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 CAPACITY = LAYOUT.int32("capacity");
    static final KernelStructure.Int32 TILE_ROWS = LAYOUT.int32("tile_rows");
    static final KernelStructure.Int32 TILES = LAYOUT.int32("tiles");
    static final KernelStructure.Int32 STRIPES = LAYOUT.int32("stripes");
    static final KernelStructure.Int32 STRIPE_TILES = LAYOUT.int32("stripe_tiles");

    private RunsArguments() {}
  }

  private record Entry(long input, long output, int width, int bitOffset) {}

  private final KernelFunction fixedWidth;
  private final KernelFunction masks;
  private final KernelFunction runSums;
  private final KernelFunction runTotal;
  private final RunsKernel strings;
  private final RunsKernel listElements;

  /** A kernel compiled for tiles of few rows and for tiles of many rows. */
  private record RunsKernel(KernelFunction few, KernelFunction many) {
    RunsKernel(KernelModule module, String name) {
      this(module.function(name + "_1"), module.function(name + "_4"));
    }

    KernelFunction forTiles(RunTiles tiles) {
      return tiles.rowsOfTile() <= THREADS ? few : many;
    }
  }

  private GatherKernels(Device device) {
    KernelModule module = device.loadModule("gather");
    fixedWidth = module.function("gather_fixed_width");
    masks = module.function("gather_masks");
    runSums = module.function("gather_run_sums");
    runTotal = module.function("gather_run_total");
    strings = new RunsKernel(module, "gather_strings");
    listElements = new RunsKernel(module, "gather_list_elements");
  }

  public static GatherKernels of(Device device) {
    return BY_DEVICE.computeIfAbsent(device, GatherKernels::new);
  }

  @Override
  public void gatherAll(GatherPlan plan, long map, DeviceStream stream, MemoryResource memory) {
    gatherAll(plan, map, 1, stream, memory);
  }

  /**
   * Enqueues the gather of all columns.
   *
   * @param partitions the number of ascending sequences of rows, of about the same length, that the
   *     map consists of; 1 if nothing is known about the map. Affects the speed only.
   */
  public void gatherAll(
      GatherPlan plan, long map, int partitions, DeviceStream stream, MemoryResource memory) {
    List<Entry> entries =
        plan.fixed().stream()
            .map(move -> new Entry(move.input(), move.output(), move.width(), 0))
            .toList();
    launch(fixedWidth, blocks(plan.rows(), ROWS_PER_BLOCK), entries, map, plan.rows(), stream);
    gatherRest(plan, map, partitions, stream, memory);
  }

  /** Enqueues the gather of all columns but those of fixed width. */
  public void gatherRest(
      GatherPlan plan, long map, int partitions, DeviceStream stream, MemoryResource memory) {
    List<Entry> entries =
        plan.masks().stream()
            .map(move -> new Entry(move.input(), move.output(), 0, move.bitOffset()))
            .toList();
    long bits = Column.maskBytes(plan.rows()) * Byte.SIZE;
    launch(masks, blocks(bits, THREADS), entries, map, plan.rows(), stream);
    plan.runs().forEach(move -> gatherRuns(move, map, plan.rows(), partitions, stream, memory));
  }

  private static int blocks(long elements, int elementsPerBlock) {
    return (int) ((elements + elementsPerBlock - 1) / elementsPerBlock);
  }

  private static void launch(
      KernelFunction function,
      int blocks,
      List<Entry> entries,
      long map,
      int rows,
      DeviceStream stream) {
    if (rows == 0) {
      return;
    }
    for (int begin = 0; begin < entries.size(); begin += MAX_BUFFERS) {
      int end = Math.min(begin + MAX_BUFFERS, entries.size());
      try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
        arguments
            .put(Arguments.MAP, map)
            .put(Arguments.ROWS, rows)
            .put(Arguments.BUFFERS, end - begin);
        for (int i = begin; i < end; i++) {
          Entry entry = entries.get(i);
          int at = Arguments.BUFFER.at(i - begin);
          arguments
              .put(at, BufferFields.INPUT, entry.input())
              .put(at, BufferFields.OUTPUT, entry.output())
              .put(at, BufferFields.WIDTH, entry.width())
              .put(at, BufferFields.BIT_OFFSET, entry.bitOffset());
        }
        function.launch(blocks, THREADS, 0, stream, arguments);
      }
    }
  }

  private void gatherRuns(
      GatherPlan.OffsetGather move,
      long map,
      int rows,
      int partitions,
      DeviceStream stream,
      MemoryResource memory) {
    boolean isList = move.elements() != null;
    if (isList && move.capacity() > 0) {
      stream.fill(move.output(), (byte) -1, (long) move.capacity() * Integer.BYTES);
    }
    if (rows == 0) {
      stream.fill(move.outputOffsets(), (byte) 0, Integer.BYTES);
    } else {
      RunTiles tiles =
          RunTiles.of(rows, (long) move.capacity() * (isList ? Integer.BYTES : 1), partitions);
      launchRuns(move, isList ? listElements : strings, map, rows, tiles, stream, memory);
    }
    if (isList) {
      gatherAll(move.elements(), move.output(), partitions, stream, memory);
    }
  }

  @Override
  public long countRuns(
      long map, long inputOffsets, int rows, DeviceStream stream, MemoryResource memory) {
    if (rows == 0) {
      return 0;
    }
    GatherPlan.OffsetGather counted = new GatherPlan.OffsetGather(inputOffsets, 0, 0, 0, 0, null);
    try (AccessScope scope = AccessScope.on(stream);
        Buffer total = zeros(Long.BYTES, scope, memory);
        StagingBuffer count = stream.device().stagingPool().acquire(Long.BYTES);
        KernelArguments arguments = new KernelArguments(RunsArguments.LAYOUT)) {
      long address = total.access(AccessMode.WRITE, scope);
      describe(arguments, counted, map, rows, address);
      int blocks = Math.min(blocks(rows, ROWS_PER_BLOCK), TOTAL_BLOCKS);
      runTotal.launch(blocks, THREADS, 0, stream, arguments);
      stream.copy(count.address(), address, Long.BYTES);
      stream.synchronize();
      return HostMemory.getLong(count.address());
    }
  }

  @Override
  public void numberElements(
      GatherPlan.OffsetGather move,
      long map,
      int rows,
      DeviceStream stream,
      MemoryResource memory) {
    if (rows > 0) {
      RunTiles tiles = RunTiles.of(rows, (long) move.capacity() * Integer.BYTES, 1);
      launchRuns(move, listElements, map, rows, tiles, stream, memory);
    }
  }

  @Override
  public void gatherStrings(
      GatherPlan.OffsetGather move, long map, int rows, long scratch, DeviceStream stream) {
    if (rows == 0) {
      stream.fill(move.outputOffsets(), (byte) 0, Integer.BYTES);
      return;
    }
    RunTiles tiles = RunTiles.of(rows, move.capacity(), 1);
    stream.fill(scratch, (byte) 0, tiles.scratchBytes());
    launchRuns(move, strings, map, rows, tiles, scratch, stream);
  }

  private void launchRuns(
      GatherPlan.OffsetGather move,
      RunsKernel kernel,
      long map,
      int rows,
      RunTiles tiles,
      DeviceStream stream,
      MemoryResource memory) {
    try (AccessScope scope = AccessScope.on(stream);
        Buffer scratch = zeros(tiles.scratchBytes(), scope, memory)) {
      long address = scratch.access(AccessMode.WRITE, scope);
      launchRuns(move, kernel, map, rows, tiles, address, stream);
    }
  }

  private void launchRuns(
      GatherPlan.OffsetGather move,
      RunsKernel kernel,
      long map,
      int rows,
      RunTiles tiles,
      long scratch,
      DeviceStream stream) {
    try (KernelArguments arguments = new KernelArguments(RunsArguments.LAYOUT)) {
      describe(arguments, move, map, rows, scratch);
      arguments
          .put(RunsArguments.TILE_ROWS, tiles.rowsOfTile())
          .put(RunsArguments.TILES, tiles.count())
          .put(RunsArguments.STRIPES, tiles.stripes())
          .put(RunsArguments.STRIPE_TILES, tiles.tilesOfStripe());
      if (tiles.stripes() > 0) {
        runSums.launch(tiles.blocks(), THREADS, 0, stream, arguments);
      }
      kernel.forTiles(tiles).launch(tiles.blocks(), THREADS, 0, stream, arguments);
    }
  }

  private static void describe(
      KernelArguments arguments, GatherPlan.OffsetGather move, long map, int rows, long scratch) {
    arguments
        .put(RunsArguments.MAP, map)
        .put(RunsArguments.INPUT_OFFSETS, move.inputOffsets())
        .put(RunsArguments.INPUT_BYTES, move.inputBytes())
        .put(RunsArguments.OUTPUT_OFFSETS, move.outputOffsets())
        .put(RunsArguments.OUTPUT, move.output())
        .put(RunsArguments.SCRATCH, scratch)
        .put(RunsArguments.ROWS, rows)
        .put(RunsArguments.CAPACITY, move.capacity());
  }

  private static Buffer zeros(long bytes, AccessScope scope, MemoryResource memory) {
    Buffer buffer = Buffer.allocate(bytes, scope.stream(), memory);
    try {
      scope.stream().fill(buffer.access(AccessMode.WRITE, scope), (byte) 0, bytes);
      return buffer;
    } catch (RuntimeException | Error e) {
      buffer.close();
      throw e;
    }
  }
}
