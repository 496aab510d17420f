// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelFunction;
import io.millrace.device.KernelStructure;
import io.millrace.kernel.gather.GatherPlan;
import io.millrace.kernel.hash.HashFunction;
import java.util.List;

/** The structure {@code PartitionArguments} of partition_arguments.cuh. */
final class PartitionArguments implements AutoCloseable {
  static final int MAX_KEY_COLUMNS = 16;
  static final int MAX_COLUMNS = 48;
  static final int NO_PARENT = -1;

  /** The structure {@code KeyColumn}. */
  static final class KeyColumn {
    static final KernelStructure LAYOUT = new KernelStructure("KeyColumn");
    static final KernelStructure.Int64 DATA = LAYOUT.int64("data");
    static final KernelStructure.Int64 VALIDITY = LAYOUT.int64("validity");
    static final KernelStructure.Int64 OFFSETS = LAYOUT.int64("offsets");
    static final KernelStructure.Int64 NANOS = LAYOUT.int64("nanos");
    static final KernelStructure.Int64 ROW_OFFSET = LAYOUT.int64("row_offset");
    static final KernelStructure.Int32 TYPE = LAYOUT.int32("type");
    static final KernelStructure.Int32 PRECISION = LAYOUT.int32("precision");
    static final KernelStructure.Int32 PARENT = LAYOUT.int32("parent");
    static final KernelStructure.Int32 MODIFIER = LAYOUT.int32("modifier");
  }

  /** The structure {@code PartitionRule}. */
  static final class RuleFields {
    static final KernelStructure LAYOUT = new KernelStructure("PartitionRule");
    static final KernelStructure.Int64 PARTITIONS_MULTIPLIER =
        LAYOUT.int64("partitions_multiplier");
    static final KernelStructure.Int64 MAXIMUM_PARALLELISM_MULTIPLIER =
        LAYOUT.int64("maximum_parallelism_multiplier");
    static final KernelStructure.Int32 HASH_FUNCTION = LAYOUT.int32("hash_function");
    static final KernelStructure.Int32 SEED = LAYOUT.int32("seed");
    static final KernelStructure.Int32 NUMBERING = LAYOUT.int32("numbering");
    static final KernelStructure.Int32 PARTITIONS = LAYOUT.int32("partitions");
    static final KernelStructure.Int32 MAXIMUM_PARALLELISM = LAYOUT.int32("maximum_parallelism");
    static final KernelStructure.Int32 PARALLELISM = LAYOUT.int32("parallelism");
  }

  /** The structure {@code MovedColumn}. */
  static final class MovedColumn {
    static final KernelStructure LAYOUT = new KernelStructure("MovedColumn");
    static final KernelStructure.Int64 INPUT = LAYOUT.int64("input");
    static final KernelStructure.Int64 OUTPUT = LAYOUT.int64("output");
    static final KernelStructure.Int32 WIDTH = LAYOUT.int32("width");
    static final KernelStructure.Int32 RESERVED = LAYOUT.int32("reserved");

    private MovedColumn() {}
  }

  static final KernelStructure LAYOUT = new KernelStructure("PartitionArguments");
  private static final KernelStructure.Int64 COUNTS = LAYOUT.int64("counts");
  private static final KernelStructure.Int64 TOTALS = LAYOUT.int64("totals");
  private static final KernelStructure.Int64 IDS = LAYOUT.int64("ids");
  private static final KernelStructure.Int64 DEVICE_OFFSETS = LAYOUT.int64("device_offsets");
  private static final KernelStructure.Int64 HOST_OFFSETS = LAYOUT.int64("host_offsets");
  private static final KernelStructure.Int64 MAP = LAYOUT.int64("map");
  private static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
  private static final KernelStructure.Int32 PARTITIONS = LAYOUT.int32("partitions");
  private static final KernelStructure.Int32 CHUNKS = LAYOUT.int32("chunks");
  private static final KernelStructure.Int32 COUNT_STRIDE = LAYOUT.int32("count_stride");
  private static final KernelStructure.Int32 ID_WIDTH = LAYOUT.int32("id_width");
  private static final KernelStructure.Int32 MAP_WIDTH = LAYOUT.int32("map_width");
  private static final KernelStructure.Int32 MAP_SHIFT = LAYOUT.int32("map_shift");
  private static final KernelStructure.Int32 MAP_MASK = LAYOUT.int32("map_mask");
  private static final KernelStructure.Int32 KEY_COLUMNS = LAYOUT.int32("key_columns");
  private static final KernelStructure.Int32 NULLS_PRESENT = LAYOUT.int32("nulls_present");
  private static final KernelStructure.Int32 COLUMNS = LAYOUT.int32("columns");
  private static final KernelStructure.Int32 TILE_ROWS = LAYOUT.int32("tile_rows");
  private static final KernelStructure.Int32 CONTROL_SLOT = LAYOUT.int32("control_slot");
  static final KernelStructure.Int32 RESERVED = LAYOUT.int32("reserved");
  private static final KernelStructure.Array RULE = LAYOUT.array("rule", RuleFields.LAYOUT, 1);
  private static final KernelStructure.Array KEY =
      LAYOUT.array("key", KeyColumn.LAYOUT, MAX_KEY_COLUMNS);
  private static final KernelStructure.Array COLUMN =
      LAYOUT.array("column", MovedColumn.LAYOUT, MAX_COLUMNS);

  // In the order of the kernels' HashFunctionId, Numbering and KeyType.
  private static final List<HashFunction.Algorithm> ALGORITHMS =
      List.of(HashFunction.Algorithm.values());
  private static final List<PartitionAssigner.Rule> RULES =
      List.of(PartitionAssigner.Rule.values());
  private static final List<TypeId> KEY_TYPES =
      List.of(
          TypeId.BOOL,
          TypeId.INT8,
          TypeId.INT16,
          TypeId.INT32,
          TypeId.INT64,
          TypeId.FLOAT32,
          TypeId.FLOAT64,
          TypeId.DECIMAL32,
          TypeId.DECIMAL64,
          TypeId.DECIMAL128,
          TypeId.DATE,
          TypeId.TIME,
          TypeId.TIMESTAMP_MILLIS,
          TypeId.TIMESTAMP_MICROS,
          TypeId.TIMESTAMP_NANOS,
          TypeId.STRING,
          TypeId.BINARY,
          TypeId.STRUCT);

  /** A key column or struct level; an address is 0 if the column has no such buffer. */
  record Key(
      long data,
      long validity,
      long offsets,
      long nanos,
      long rowOffset,
      DataType type,
      int parent) {}

  private final KernelArguments arguments = new KernelArguments(LAYOUT);
  private int keys;

  PartitionArguments size(int rows, int partitions) {
    arguments.put(ROWS, rows).put(PARTITIONS, partitions);
    return this;
  }

  PartitionArguments chunks(int chunks, int tileRows, int countStride) {
    arguments.put(CHUNKS, chunks).put(TILE_ROWS, tileRows).put(COUNT_STRIDE, countStride);
    return this;
  }

  PartitionArguments scratch(long counts, long totals, long ids, int idWidth, int controlSlot) {
    arguments
        .put(COUNTS, counts)
        .put(TOTALS, totals)
        .put(IDS, ids)
        .put(ID_WIDTH, idWidth)
        .put(CONTROL_SLOT, controlSlot);
    return this;
  }

  /**
   * @param host mapped host memory, or 0
   */
  PartitionArguments offsets(long device, long host) {
    arguments.put(DEVICE_OFFSETS, device).put(HOST_OFFSETS, host);
    return this;
  }

  PartitionArguments map(long address, int width, int shift, int mask) {
    arguments.put(MAP, address).put(MAP_WIDTH, width).put(MAP_SHIFT, shift).put(MAP_MASK, mask);
    return this;
  }

  PartitionArguments rule(
      HashFunction function, PartitionAssigner numbering, boolean nullsPresent) {
    int rule = RULE.at(0);
    arguments
        .put(NULLS_PRESENT, nullsPresent ? 1 : 0)
        .put(
            rule,
            RuleFields.PARTITIONS_MULTIPLIER,
            PartitionAssigner.multiplier(numbering.partitions()))
        .put(
            rule,
            RuleFields.MAXIMUM_PARALLELISM_MULTIPLIER,
            PartitionAssigner.multiplier(numbering.maximumParallelism()))
        .put(rule, RuleFields.HASH_FUNCTION, ALGORITHMS.indexOf(function.algorithm()))
        .put(rule, RuleFields.SEED, function.seed())
        .put(rule, RuleFields.NUMBERING, RULES.indexOf(numbering.rule()))
        .put(rule, RuleFields.PARTITIONS, numbering.partitions())
        .put(rule, RuleFields.MAXIMUM_PARALLELISM, numbering.maximumParallelism())
        .put(rule, RuleFields.PARALLELISM, numbering.partitions());
    return this;
  }

  /** Adds a key column; returns its position, for columns inside it. */
  int key(Key key) {
    int at = KEY.at(keys);
    arguments
        .put(at, KeyColumn.DATA, key.data())
        .put(at, KeyColumn.VALIDITY, key.validity())
        .put(at, KeyColumn.OFFSETS, key.offsets())
        .put(at, KeyColumn.NANOS, key.nanos())
        .put(at, KeyColumn.ROW_OFFSET, key.rowOffset())
        .put(at, KeyColumn.TYPE, KEY_TYPES.indexOf(key.type().id()))
        .put(at, KeyColumn.PRECISION, key.type().precision())
        .put(at, KeyColumn.PARENT, key.parent())
        .put(at, KeyColumn.MODIFIER, modifier(key.type()))
        .put(KEY_COLUMNS, keys + 1);
    return keys++;
  }

  private static int modifier(DataType type) {
    return type.withTimeZone() ? 1 : type.scale();
  }

  /** Sets the columns to move, at most {@link #MAX_COLUMNS}; replaces columns set before. */
  PartitionArguments moves(List<GatherPlan.FixedWidthGather> moves) {
    putMoves(arguments, COLUMN, moves);
    arguments.put(COLUMNS, moves.size());
    return this;
  }

  static void putMoves(
      KernelArguments arguments,
      KernelStructure.Array columns,
      List<GatherPlan.FixedWidthGather> moves) {
    for (int i = 0; i < moves.size(); i++) {
      GatherPlan.FixedWidthGather move = moves.get(i);
      int at = columns.at(i);
      arguments
          .put(at, MovedColumn.INPUT, move.input())
          .put(at, MovedColumn.OUTPUT, move.output())
          .put(at, MovedColumn.WIDTH, move.width());
    }
  }

  void launch(
      KernelFunction function, int blocks, int threads, int sharedBytes, DeviceStream stream) {
    function.launch(blocks, threads, sharedBytes, stream, arguments);
  }

  void launchCooperative(
      KernelFunction function, int blocks, int threads, int sharedBytes, DeviceStream stream) {
    function.launchCooperative(blocks, threads, sharedBytes, stream, arguments);
  }

  @Override
  public void close() {
    arguments.close();
  }
}
