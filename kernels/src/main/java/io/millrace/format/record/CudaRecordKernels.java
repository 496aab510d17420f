// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.record;

import io.millrace.device.Device;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import java.util.List;

/** Launches the kernels of a format. One instance per format and device. */
final class CudaRecordKernels implements RecordKernels {
  /** The structure {@code RecordColumn} of record_arguments.cuh. */
  static final class ColumnArguments {
    static final KernelStructure LAYOUT = new KernelStructure("RecordColumn");
    static final KernelStructure.Int64 VALUES = LAYOUT.int64("values");
    static final KernelStructure.Int64 SECOND = LAYOUT.int64("second");
    static final KernelStructure.Int64 VALIDITY = LAYOUT.int64("validity");

    private ColumnArguments() {}
  }

  /** The structure {@code RecordArguments} of record_arguments.cuh. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("RecordArguments");
    static final KernelStructure.Int64 BYTES = LAYOUT.int64("bytes");
    static final KernelStructure.Int64 RECORDS = LAYOUT.int64("records");
    static final KernelStructure.Int64 ENDS = LAYOUT.int64("ends");
    static final KernelStructure.Int64 OTHERS = LAYOUT.int64("others");
    static final KernelStructure.Int64 OTHER_ENDS = LAYOUT.int64("other_ends");
    static final KernelStructure.Int64 PROGRAMS = LAYOUT.int64("programs");
    static final KernelStructure.Int64 KEPT = LAYOUT.int64("kept");
    static final KernelStructure.Int64 FIELDS = LAYOUT.int64("fields");
    static final KernelStructure.Int64 POWERS = LAYOUT.int64("powers");
    static final KernelStructure.Int64 ERRORS = LAYOUT.int64("errors");
    static final KernelStructure.Int64 NULL_COUNTS = LAYOUT.int64("null_counts");
    static final KernelStructure.Int64 LOOK_BACK = LAYOUT.int64("look_back");
    static final KernelStructure.Int64 RESULT = LAYOUT.int64("result");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 FIELD_COUNT = LAYOUT.int32("field_count");
    static final KernelStructure.Int32 STRING_COUNT = LAYOUT.int32("string_count");
    static final KernelStructure.Int32 TILES = LAYOUT.int32("tiles");
    static final KernelStructure.Array COLUMN =
        LAYOUT.array("column", ColumnArguments.LAYOUT, RecordFields.MAX_FIELDS);

    private Arguments() {}
  }

  /** The structure {@code RecordStringColumn} of record_arguments.cuh. */
  static final class StringColumnArguments {
    static final KernelStructure LAYOUT = new KernelStructure("RecordStringColumn");
    static final KernelStructure.Int64 STARTS = LAYOUT.int64("starts");
    static final KernelStructure.Int64 OFFSETS = LAYOUT.int64("offsets");
    static final KernelStructure.Int64 BYTES = LAYOUT.int64("bytes");
    static final KernelStructure.Int64 IS_BINARY = LAYOUT.int64("is_binary");

    private StringColumnArguments() {}
  }

  /** The structure {@code RecordStringsArguments} of record_arguments.cuh. */
  static final class StringsArguments {
    static final KernelStructure LAYOUT = new KernelStructure("RecordStringsArguments");
    static final KernelStructure.Int64 BYTES = LAYOUT.int64("bytes");
    static final KernelStructure.Int64 FORMAT = LAYOUT.int64("format");
    static final KernelStructure.Int64 ROWS = LAYOUT.int64("rows");
    static final KernelStructure.Array COLUMN =
        LAYOUT.array("column", StringColumnArguments.LAYOUT, RecordFields.MAX_FIELDS);

    private StringsArguments() {}
  }

  /** The structure {@code RecordElementsArguments} of record_arguments.cuh. */
  static final class ElementsArguments {
    static final KernelStructure LAYOUT = new KernelStructure("RecordElementsArguments");
    static final KernelStructure.Int64 BYTES = LAYOUT.int64("bytes");
    static final KernelStructure.Int64 RECORD_ENDS = LAYOUT.int64("record_ends");
    static final KernelStructure.Int64 OTHER_ENDS = LAYOUT.int64("other_ends");
    static final KernelStructure.Int64 ERRORS = LAYOUT.int64("errors");
    static final KernelStructure.Int64 KEPT = LAYOUT.int64("kept");
    static final KernelStructure.Int64 FORMAT = LAYOUT.int64("format");
    static final KernelStructure.Int64 LISTS = LAYOUT.int64("lists");
    static final KernelStructure.Int64 OFFSETS = LAYOUT.int64("offsets");
    static final KernelStructure.Int64 STARTS = LAYOUT.int64("starts");
    static final KernelStructure.Int64 ENDS = LAYOUT.int64("ends");
    static final KernelStructure.Int64 PROGRAMS = LAYOUT.int64("programs");
    static final KernelStructure.Int64 KEPT_ELEMENTS = LAYOUT.int64("kept_elements");
    static final KernelStructure.Int64 ROWS = LAYOUT.int64("rows");

    private ElementsArguments() {}
  }

  private static final int THREADS = 128;
  private static final int OFFSET_THREADS = 256;
  private static final int OFFSET_TILE = OFFSET_THREADS * 8;
  private static final int STRING_THREADS = 256;
  private static final int STRING_ROWS = STRING_THREADS / 8;

  private final KernelModule module;
  private final String name;

  CudaRecordKernels(Device device, String name) {
    this.module = device.loadModule(name);
    this.name = name;
  }

  private static int tiles(int count, int tile) {
    return (count - 1) / tile + 1;
  }

  @Override
  public long scratchBytes(RecordFields fields, int count) {
    long words = (long) fields.strings() * (1 + tiles(count, OFFSET_TILE));
    return RecordKernels.countBytes(fields) + words * Long.BYTES;
  }

  @Override
  public void parse(Records records) {
    int count = records.count();
    records.stream().fill(records.scratch(), (byte) 0, scratchBytes(records.fields(), count));
    try (KernelArguments arguments = arguments(records)) {
      int blocks = tiles(count, THREADS);
      module.function(name + "_parse").launch(blocks, THREADS, 0, records.stream(), arguments);
    }
  }

  @Override
  public void sumLengths(Records records) {
    try (KernelArguments arguments = arguments(records)) {
      int strings = Math.max(1, records.fields().strings());
      int blocks = tiles(records.count(), OFFSET_TILE) * strings;
      module
          .function(name + "_offsets")
          .launch(blocks, OFFSET_THREADS, 0, records.stream(), arguments);
    }
    records.stream().synchronize();
  }

  private static KernelArguments arguments(Records records) {
    RecordFields fields = records.fields();
    KernelArguments arguments = new KernelArguments(Arguments.LAYOUT);
    arguments
        .put(Arguments.BYTES, records.bytes())
        .put(Arguments.RECORDS, records.positions())
        .put(Arguments.ENDS, records.ends())
        .put(Arguments.OTHERS, records.others())
        .put(Arguments.OTHER_ENDS, records.otherEnds())
        .put(Arguments.PROGRAMS, records.programs())
        .put(Arguments.KEPT, records.kept())
        .put(Arguments.FIELDS, records.plan())
        .put(Arguments.POWERS, records.powers())
        .put(Arguments.ERRORS, records.errors())
        .put(Arguments.NULL_COUNTS, records.scratch())
        .put(Arguments.LOOK_BACK, records.scratch() + RecordKernels.countBytes(fields))
        .put(Arguments.RESULT, records.result())
        .put(Arguments.ROWS, records.count())
        .put(Arguments.FIELD_COUNT, fields.size())
        .put(Arguments.STRING_COUNT, fields.strings())
        .put(Arguments.TILES, tiles(records.count(), OFFSET_TILE));
    for (int i = 0; i < fields.size(); i++) {
      Target target = records.targets().get(i);
      int at = Arguments.COLUMN.at(i);
      arguments
          .put(at, ColumnArguments.VALUES, target.values())
          .put(at, ColumnArguments.SECOND, target.second())
          .put(at, ColumnArguments.VALIDITY, target.validity());
    }
    return arguments;
  }

  @Override
  public void findElements(
      Records records, int field, long starts, long ends, long programs, long kept) {
    Target lists = records.targets().get(field);
    try (KernelArguments arguments = new KernelArguments(ElementsArguments.LAYOUT)) {
      arguments
          .put(ElementsArguments.BYTES, records.bytes())
          .put(ElementsArguments.RECORD_ENDS, records.ends())
          .put(ElementsArguments.OTHER_ENDS, records.others() == 0 ? 0 : records.otherEnds())
          .put(ElementsArguments.ERRORS, records.errors())
          .put(ElementsArguments.KEPT, records.kept())
          .put(ElementsArguments.FORMAT, records.plan() + records.fields().bytes())
          .put(ElementsArguments.LISTS, lists.values())
          .put(ElementsArguments.OFFSETS, lists.second())
          .put(ElementsArguments.STARTS, starts)
          .put(ElementsArguments.ENDS, ends)
          .put(ElementsArguments.PROGRAMS, programs)
          .put(ElementsArguments.KEPT_ELEMENTS, kept)
          .put(ElementsArguments.ROWS, records.count());
      module
          .function(name + "_elements")
          .launch(tiles(records.count(), THREADS), THREADS, 0, records.stream(), arguments);
    }
  }

  @Override
  public void copyStrings(Records records, List<Strings> strings) {
    try (KernelArguments arguments = new KernelArguments(StringsArguments.LAYOUT)) {
      arguments
          .put(StringsArguments.BYTES, records.bytes())
          .put(StringsArguments.FORMAT, records.plan() + records.fields().bytes())
          .put(StringsArguments.ROWS, records.count());
      for (int i = 0; i < strings.size(); i++) {
        Strings column = strings.get(i);
        int at = StringsArguments.COLUMN.at(i);
        arguments
            .put(at, StringColumnArguments.STARTS, column.starts())
            .put(at, StringColumnArguments.OFFSETS, column.offsets())
            .put(at, StringColumnArguments.BYTES, column.bytes())
            .put(at, StringColumnArguments.IS_BINARY, column.field().isBinary() ? 1 : 0);
      }
      int blocks = tiles(records.count(), STRING_ROWS);
      module
          .function(name + "_strings")
          .launch(blocks * strings.size(), STRING_THREADS, 0, records.stream(), arguments);
    }
  }
}
