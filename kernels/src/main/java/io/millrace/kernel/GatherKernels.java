package io.millrace.kernel;

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
final class GatherKernels {
  static final int ARGUMENTS_BYTES = 1168;
  static final int RUNS_ARGUMENTS_BYTES = 56;

  private static final Map<Device, GatherKernels> BY_DEVICE = new ConcurrentHashMap<>();
  private static final int MAXIMUM_BUFFERS = 48;
  private static final int BUFFERS = 16;
  private static final int BUFFER_BYTES = 24;
  private static final int THREADS = 256;
  private static final int ROWS_OF_BLOCK = THREADS * 4;
  private static final int RUNS_TILE = THREADS * 8;

  /** One entry of the structure {@code GatherArguments}. */
  private record Entry(long input, long output, int width, int bitOffset) {}

  private final KernelFunction fixedWidth;
  private final KernelFunction masks;
  private final KernelFunction runSums;
  private final KernelFunction runScan;
  private final KernelFunction strings;
  private final KernelFunction listElements;

  private GatherKernels(Device device) {
    KernelModule module = device.loadModule("gather");
    fixedWidth = module.function("gather_fixed_width");
    masks = module.function("gather_masks");
    runSums = module.function("gather_run_sums");
    runScan = module.function("gather_run_scan");
    strings = module.function("gather_strings");
    listElements = module.function("gather_list_elements");
  }

  static GatherKernels of(Device device) {
    return BY_DEVICE.computeIfAbsent(device, GatherKernels::new);
  }

  void gatherAll(RowMoves moves, long map, DeviceStream stream, MemoryResource memory) {
    List<Entry> entries =
        moves.fixed().stream()
            .map(move -> new Entry(move.input(), move.output(), move.width(), 0))
            .toList();
    launch(fixedWidth, blocks(moves.rows(), ROWS_OF_BLOCK), entries, map, moves.rows(), stream);
    gatherRest(moves, map, stream, memory);
  }

  /** All but fixed-width columns. */
  void gatherRest(RowMoves moves, long map, DeviceStream stream, MemoryResource memory) {
    List<Entry> entries =
        moves.masks().stream()
            .map(move -> new Entry(move.input(), move.output(), 0, move.bitOffset()))
            .toList();
    long bits = Column.maskBytes(moves.rows()) * Byte.SIZE;
    launch(masks, blocks(bits, THREADS), entries, map, moves.rows(), stream);
    moves.runs().forEach(move -> gatherRuns(move, map, moves.rows(), stream, memory));
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
    for (int begin = 0; begin < entries.size(); begin += MAXIMUM_BUFFERS) {
      int end = Math.min(begin + MAXIMUM_BUFFERS, entries.size());
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
      RowMoves.RunsMove move, long map, int rows, DeviceStream stream, MemoryResource memory) {
    boolean isList = move.elements() != null;
    if (isList && move.capacity() > 0) {
      stream.fill(move.output(), (byte) -1, (long) move.capacity() * Integer.BYTES);
    }
    if (rows == 0) {
      stream.fill(move.outputOffsets(), (byte) 0, Integer.BYTES);
    } else {
      launchRuns(move, isList ? listElements : strings, map, rows, stream, memory);
    }
    if (isList) {
      gatherAll(move.elements(), move.output(), stream, memory);
    }
  }

  /**
   * How many bytes or elements the runs of all rows have. Waits for the device.
   *
   * @param outputOffsets memory for {@code rows + 1} offsets
   */
  int countRuns(
      long map,
      long inputOffsets,
      long outputOffsets,
      int rows,
      DeviceStream stream,
      MemoryResource memory) {
    if (rows == 0) {
      return 0;
    }
    // With no capacity the kernels write the offsets alone.
    RowMoves.RunsMove offsetsOnly =
        new RowMoves.RunsMove(inputOffsets, 0, outputOffsets, 0, 0, null);
    launchRuns(offsetsOnly, strings, map, rows, stream, memory);
    try (StagingBuffer count = stream.device().stagingPool().acquire(Integer.BYTES)) {
      stream.copy(count.address(), outputOffsets + (long) rows * Integer.BYTES, Integer.BYTES);
      stream.synchronize();
      return HostMemory.getInt(count.address());
    }
  }

  /** Writes the numbers of the elements of lists, without moving those. */
  void numberElements(
      RowMoves.RunsMove move, long map, int rows, DeviceStream stream, MemoryResource memory) {
    if (rows > 0) {
      launchRuns(move, listElements, map, rows, stream, memory);
    }
  }

  private void launchRuns(
      RowMoves.RunsMove move,
      KernelFunction function,
      long map,
      int rows,
      DeviceStream stream,
      MemoryResource memory) {
    int tiles = blocks(rows, RUNS_TILE);
    try (AccessScope scope = AccessScope.on(stream);
        Buffer sums = Buffer.allocate((long) tiles * Integer.BYTES, stream, memory);
        KernelArguments arguments = new KernelArguments(RUNS_ARGUMENTS_BYTES)) {
      arguments
          .putLong(0, map)
          .putLong(8, move.inputOffsets())
          .putLong(16, move.inputBytes())
          .putLong(24, move.outputOffsets())
          .putLong(32, move.output())
          .putLong(40, sums.access(AccessMode.WRITE, scope))
          .putInt(48, rows)
          .putInt(52, move.capacity());
      runSums.launch(tiles, THREADS, 0, stream, arguments);
      runScan.launch(1, THREADS, 0, stream, arguments);
      function.launch(tiles, THREADS, 0, stream, arguments);
    }
  }
}
