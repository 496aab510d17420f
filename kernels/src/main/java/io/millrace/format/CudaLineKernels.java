// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;

/** Launches the kernels of lines.cu. One instance per device. */
final class CudaLineKernels implements LineKernels {
  /** The structure {@code LinesArguments} of lines.cu. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("LinesArguments");
    static final KernelStructure.Int64 TEXT = LAYOUT.int64("text");
    static final KernelStructure.Int64 STARTS = LAYOUT.int64("starts");
    static final KernelStructure.Int64 LOOK_BACK = LAYOUT.int64("look_back");
    static final KernelStructure.Int64 COUNT = LAYOUT.int64("count");
    static final KernelStructure.Int32 FIRST = LAYOUT.int32("first");
    static final KernelStructure.Int32 BYTES = LAYOUT.int32("bytes");
    static final KernelStructure.Int32 CAPACITY = LAYOUT.int32("capacity");
    static final KernelStructure.Int32 TILES = LAYOUT.int32("tiles");
    static final KernelStructure.Int32 DELIMITER = LAYOUT.int32("delimiter");
    static final KernelStructure.Int32 QUOTE = LAYOUT.int32("quote");
    static final KernelStructure.Int32 ESCAPE = LAYOUT.int32("escape");
    static final KernelStructure.Int32 UNUSED = LAYOUT.int32("unused");

    private Arguments() {}
  }

  private static final int THREADS = 256;
  private static final int TILE_BYTES = THREADS * 8 * Long.BYTES;

  private final KernelModule module;

  CudaLineKernels(Device device) {
    module = device.loadModule("lines");
  }

  @Override
  public int find(
      long text,
      int size,
      FieldQuotes quotes,
      long starts,
      int capacity,
      DeviceStream stream,
      MemoryResource memory) {
    int first = (int) (text % Long.BYTES);
    int tiles = (int) (((long) first + size - 1) / TILE_BYTES) + 1;
    FieldQuotes characters = quotes == null ? FieldQuotes.DEFAULT : quotes;
    long wordsOfTile = quotes == null ? 1 : 2;
    long scratchBytes = (1 + wordsOfTile * tiles) * Long.BYTES;
    try (StagingBuffer count = stream.device().stagingPool().acquire(Long.BYTES);
        Buffer scratch = Buffer.allocate(scratchBytes, stream, memory);
        AccessScope scope = AccessScope.on(stream);
        KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      long lookBack = scratch.access(AccessMode.WRITE, scope);
      stream.fill(lookBack, (byte) 0, scratchBytes);
      arguments
          .put(Arguments.TEXT, text - first)
          .put(Arguments.STARTS, starts)
          .put(Arguments.LOOK_BACK, lookBack)
          .put(Arguments.COUNT, count.address())
          .put(Arguments.FIRST, first)
          .put(Arguments.BYTES, size)
          .put(Arguments.CAPACITY, capacity)
          .put(Arguments.TILES, tiles)
          .put(Arguments.DELIMITER, characters.delimiter())
          .put(Arguments.QUOTE, characters.quote())
          .put(Arguments.ESCAPE, characters.escape())
          .put(Arguments.UNUSED, 0);
      String kernel = quotes == null ? "lines_find" : "lines_find_quoted";
      module.function(kernel).launch(tiles, THREADS, 0, stream, arguments);
      stream.synchronize();
      return (int) HostMemory.getLong(count.address());
    }
  }
}
