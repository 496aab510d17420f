// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.parquet;

import io.millrace.device.HostMemory;
import io.millrace.device.KernelStructure;

/** The structures of parquet_arguments.cuh that lie in memory, read and written by address. */
final class PageStructures {
  /** The structure {@code ParquetPage}. */
  static final class Page {
    static final KernelStructure LAYOUT = new KernelStructure("ParquetPage");
    static final KernelStructure.Int64 LEVELS = LAYOUT.int64("levels");
    static final KernelStructure.Int64 VALUES = LAYOUT.int64("values");
    static final KernelStructure.Int64 DICTIONARY = LAYOUT.int64("dictionary");
    static final KernelStructure.Int32 FIRST_ROW = LAYOUT.int32("first_row");
    static final KernelStructure.Int32 ENCODING = LAYOUT.int32("encoding");
    static final KernelStructure.Int32 LEVEL_RUN = LAYOUT.int32("level_run");
    static final KernelStructure.Int32 LEVEL_RUN_COUNT = LAYOUT.int32("level_run_count");
    static final KernelStructure.Int32 CODE_RUN = LAYOUT.int32("code_run");
    static final KernelStructure.Int32 CODE_RUN_COUNT = LAYOUT.int32("code_run_count");
    static final KernelStructure.Int32 BIT_WIDTH = LAYOUT.int32("bit_width");
    static final KernelStructure.Int32 DICTIONARY_SIZE = LAYOUT.int32("dictionary_size");
    static final KernelStructure.Int32 DICTIONARY_START = LAYOUT.int32("dictionary_start");
    static final KernelStructure.Int32 RESERVED = LAYOUT.int32("reserved");

    private Page() {}
  }

  /** The structure {@code ParquetColumn}. */
  static final class Column {
    static final KernelStructure LAYOUT = new KernelStructure("ParquetColumn");
    static final KernelStructure.Int64 VALUES = LAYOUT.int64("values");
    static final KernelStructure.Int64 SECOND = LAYOUT.int64("second");
    static final KernelStructure.Int64 VALIDITY = LAYOUT.int64("validity");
    static final KernelStructure.Int32 PAGE = LAYOUT.int32("page");
    static final KernelStructure.Int32 PAGE_COUNT = LAYOUT.int32("page_count");
    static final KernelStructure.Int32 TYPE = LAYOUT.int32("type");
    static final KernelStructure.Int32 WIDTH = LAYOUT.int32("width");
    static final KernelStructure.Int32 IS_UNSIGNED = LAYOUT.int32("is_unsigned");
    static final KernelStructure.Int32 STRING = LAYOUT.int32("string");

    private Column() {}
  }

  /** The structure {@code ParquetStringColumn}. */
  static final class StringColumn {
    static final KernelStructure LAYOUT = new KernelStructure("ParquetStringColumn");
    static final KernelStructure.Int64 POSITIONS = LAYOUT.int64("positions");
    static final KernelStructure.Int64 OFFSETS = LAYOUT.int64("offsets");
    static final KernelStructure.Int64 TARGET = LAYOUT.int64("target");

    private StringColumn() {}
  }

  private PageStructures() {}

  static int get(long structure, KernelStructure.Int32 field) {
    return HostMemory.getInt(structure + field.offset());
  }

  static long get(long structure, KernelStructure.Int64 field) {
    return HostMemory.getLong(structure + field.offset());
  }

  static void put(long structure, KernelStructure.Int32 field, int value) {
    HostMemory.putInt(structure + field.offset(), value);
  }

  static void put(long structure, KernelStructure.Int64 field, long value) {
    HostMemory.putLong(structure + field.offset(), value);
  }
}
