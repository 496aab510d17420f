// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.device.Device;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;

/** Launches the kernels of parquet.cu. One instance per device. */
final class CudaParquetKernels implements ParquetKernels {
  /** The structure {@code ParquetArguments} of parquet_arguments.cuh. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("ParquetArguments");
    static final KernelStructure.Int64 BYTES = LAYOUT.int64("bytes");
    static final KernelStructure.Int64 WORDS = LAYOUT.int64("words");
    static final KernelStructure.Int64 PAGES = LAYOUT.int64("pages");
    static final KernelStructure.Int64 COLUMNS = LAYOUT.int64("columns");
    static final KernelStructure.Int64 LOOK_BACK = LAYOUT.int64("look_back");
    static final KernelStructure.Int64 BAD_CODES = LAYOUT.int64("bad_codes");
    static final KernelStructure.Int64 TOTALS = LAYOUT.int64("totals");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 COLUMN_COUNT = LAYOUT.int32("column_count");
    static final KernelStructure.Int32 OFFSET_TILES = LAYOUT.int32("offset_tiles");
    static final KernelStructure.Int32 VALUE_TILES = LAYOUT.int32("value_tiles");

    private Arguments() {}
  }

  /** The structure {@code ParquetStringsArguments} of parquet_arguments.cuh. */
  static final class StringsArguments {
    static final KernelStructure LAYOUT = new KernelStructure("ParquetStringsArguments");
    static final KernelStructure.Int64 BYTES = LAYOUT.int64("bytes");
    static final KernelStructure.Int64 COLUMNS = LAYOUT.int64("columns");
    static final KernelStructure.Int64 ROWS = LAYOUT.int64("rows");
    static final KernelStructure.Int64 BLOCKS = LAYOUT.int64("blocks");

    private StringsArguments() {}
  }

  private static final int VALUE_THREADS = 256;
  private static final int VALUE_TILE = VALUE_THREADS * 4;
  private static final int OFFSET_THREADS = 256;
  private static final int OFFSET_TILE = OFFSET_THREADS * 8;
  private static final int STRING_THREADS = 256;
  private static final int STRING_ROWS = STRING_THREADS / 8;

  private final KernelModule module;

  CudaParquetKernels(Device device) {
    module = device.loadModule("parquet");
  }

  private static int tiles(int rows, int tile) {
    return (rows - 1) / tile + 1;
  }

  @Override
  public long scratchBytes(int rows, int strings) {
    return strings * (1L + tiles(rows, OFFSET_TILE)) * Long.BYTES;
  }

  @Override
  public void decode(Pages pages) {
    int valueTiles = tiles(pages.rows(), VALUE_TILE);
    int offsetTiles = tiles(pages.rows(), OFFSET_TILE);
    try (KernelArguments arguments = new KernelArguments(Arguments.LAYOUT)) {
      arguments
          .put(Arguments.BYTES, pages.bytes())
          .put(Arguments.WORDS, pages.words())
          .put(Arguments.PAGES, pages.pages())
          .put(Arguments.COLUMNS, pages.columns())
          .put(Arguments.LOOK_BACK, pages.scratch())
          .put(Arguments.BAD_CODES, pages.badCode(0))
          .put(Arguments.TOTALS, pages.total(0))
          .put(Arguments.ROWS, pages.rows())
          .put(Arguments.COLUMN_COUNT, pages.columnCount())
          .put(Arguments.OFFSET_TILES, offsetTiles)
          .put(Arguments.VALUE_TILES, valueTiles);
      int blocks = Math.multiplyExact(valueTiles, pages.columnCount());
      module.function("parquet_values").launch(blocks, VALUE_THREADS, 0, pages.stream(), arguments);
      if (pages.strings() > 0) {
        pages.stream().fill(pages.scratch(), (byte) 0, scratchBytes(pages.rows(), pages.strings()));
        module
            .function("parquet_offsets")
            .launch(
                Math.multiplyExact(offsetTiles, pages.strings()),
                OFFSET_THREADS,
                0,
                pages.stream(),
                arguments);
      }
    }
    pages.stream().synchronize();
  }

  @Override
  public void copyStrings(Pages pages, long columns, int count) {
    int blocks = tiles(pages.rows(), STRING_ROWS);
    try (KernelArguments arguments = new KernelArguments(StringsArguments.LAYOUT)) {
      arguments
          .put(StringsArguments.BYTES, pages.bytes())
          .put(StringsArguments.COLUMNS, columns)
          .put(StringsArguments.ROWS, pages.rows())
          .put(StringsArguments.BLOCKS, blocks);
      module
          .function("parquet_strings")
          .launch(Math.multiplyExact(blocks, count), STRING_THREADS, 0, pages.stream(), arguments);
    }
  }
}
