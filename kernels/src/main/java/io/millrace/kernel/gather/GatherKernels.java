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
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Launches the kernels of gather.cu. One a device. */
@Internal
public final class GatherKernels {
  public static final int ARGUMENTS_BYTES = 1168;
  public static final int RUNS_ARGUMENTS_BYTES = 72;

  private static final Map<Device, GatherKernels> BY_DEVICE = new ConcurrentHashMap<>();
  private static final int MAX_BUFFERS = 48;
  private static final int BUFFERS = 16;
  private static final int BUFFER_BYTES = 24;
  private static final int THREADS = 256;
  private static final int ROWS_PER_BLOCK = THREADS * 4;
  private static final int TOTAL_BLOCKS = 1 << 10;

  /** One entry of the structure {@code GatherArguments}. */
  private record Entry(long input, long output, int width, int bitOffset) {}

  private final KernelFunction fixedWidth;
  private final KernelFunction masks;
  private final KernelFunction runSums;
  private final KernelFunction runTotal;
  private final RunsKernel strings;
  private final RunsKernel listElements;

  /** A kernel for tiles of few rows, and for tiles of many. */
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

  /**
   * Enqueues the gather of all columns.
   *
   * @param partitions how many ascending sequences of rows the map is, one after the other and of
   *     about the same length; 1 if nothing is known about it. It decides about speed alone.
   */
  public void gatherAll(
      GatherPlan moves, long map, int partitions, DeviceStream stream, MemoryResource memory) {
    List<Entry> entries =
        moves.fixed().stream()
            .map(move -> new Entry(move.input(), move.output(), move.width(), 0))
            .toList();
    launch(fixedWidth, blocks(moves.rows(), ROWS_PER_BLOCK), entries, map, moves.rows(), stream);
    gatherRest(moves, map, partitions, stream, memory);
  }

  /** All but fixed-width columns. */
  public void gatherRest(
      GatherPlan moves, long map, int partitions, DeviceStream stream, MemoryResource memory) {
    List<Entry> entries =
        moves.masks().stream()
            .map(move -> new Entry(move.input(), move.output(), 0, move.bitOffset()))
            .toList();
    long bits = Column.maskBytes(moves.rows()) * Byte.SIZE;
    launch(masks, blocks(bits, THREADS), entries, map, moves.rows(), stream);
    moves.runs().forEach(move -> gatherRuns(move, map, moves.rows(), partitions, stream, memory));
  }

  private static int blocks(long elements, int elementsOfBlock) {
    return (int) ((elements + elementsOfBlock - 1) / elementsOfBlock);
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
      try (KernelArguments arguments = new KernelArguments(ARGUMENTS_BYTES)) {
        arguments.putLong(0, map).putInt(8, rows).putInt(12, end - begin);
        for (int i = begin; i < end; i++) {
          Entry entry = entries.get(i);
          int at = BUFFERS + (i - begin) * BUFFER_BYTES;
          arguments
              .putLong(at, entry.input())
              .putLong(at + 8, entry.output())
              .putInt(at + 16, entry.width())
              .putInt(at + 20, entry.bitOffset());
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

  /** How many bytes or elements the runs of all rows have. Waits for the device. */
  long countRuns(
      long map, long inputOffsets, int rows, DeviceStream stream, MemoryResource memory) {
    if (rows == 0) {
      return 0;
    }
    GatherPlan.OffsetGather counted = new GatherPlan.OffsetGather(inputOffsets, 0, 0, 0, 0, null);
    try (AccessScope scope = AccessScope.on(stream);
        Buffer total = zeros(Long.BYTES, scope, memory);
        StagingBuffer count = stream.device().stagingPool().acquire(Long.BYTES);
        KernelArguments arguments = new KernelArguments(RUNS_ARGUMENTS_BYTES)) {
      long address = total.access(AccessMode.WRITE, scope);
      describe(arguments, counted, map, rows, address);
      int blocks = Math.min(blocks(rows, ROWS_PER_BLOCK), TOTAL_BLOCKS);
      runTotal.launch(blocks, THREADS, 0, stream, arguments);
      stream.copy(count.address(), address, Long.BYTES);
      stream.synchronize();
      return HostMemory.getLong(count.address());
    }
  }

  /** Writes the numbers of the elements of lists, without moving those. */
  void numberElements(
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

  private void launchRuns(
      GatherPlan.OffsetGather move,
      RunsKernel kernel,
      long map,
      int rows,
      RunTiles tiles,
      DeviceStream stream,
      MemoryResource memory) {
    try (AccessScope scope = AccessScope.on(stream);
        Buffer scratch = zeros(tiles.scratchBytes(), scope, memory);
        KernelArguments arguments = new KernelArguments(RUNS_ARGUMENTS_BYTES)) {
      describe(arguments, move, map, rows, scratch.access(AccessMode.WRITE, scope));
      arguments
          .putInt(56, tiles.rowsOfTile())
          .putInt(60, tiles.count())
          .putInt(64, tiles.stripes())
          .putInt(68, tiles.tilesOfStripe());
      if (tiles.stripes() > 0) {
        runSums.launch(tiles.blocks(), THREADS, 0, stream, arguments);
      }
      kernel.forTiles(tiles).launch(tiles.blocks(), THREADS, 0, stream, arguments);
    }
  }

  private static void describe(
      KernelArguments arguments, GatherPlan.OffsetGather move, long map, int rows, long scratch) {
    arguments
        .putLong(0, map)
        .putLong(8, move.inputOffsets())
        .putLong(16, move.inputBytes())
        .putLong(24, move.outputOffsets())
        .putLong(32, move.output())
        .putLong(40, scratch)
        .putInt(48, rows)
        .putInt(52, move.capacity());
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
