// SPDX-License-Identifier: Apache-2.0
package io.millrace.kernel.partition;

import io.millrace.column.DataType;
import io.millrace.column.TypeId;
import io.millrace.device.DeviceStream;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelFunction;
import io.millrace.kernel.gather.GatherPlan;
import io.millrace.kernel.hash.HashFunction;
import java.util.List;

/** The structure {@code PartitionArguments} of partition_arguments.cuh. */
final class PartitionArguments implements AutoCloseable {
  static final int MAX_KEY_COLUMNS = 16;
  static final int MAX_COLUMNS = 48;
  static final int NO_PARENT = -1;
  static final int BYTES = 2192;

  private static final int COUNTS = 0;
  private static final int TOTALS = 8;
  private static final int IDS = 16;
  private static final int DEVICE_OFFSETS = 24;
  private static final int HOST_OFFSETS = 32;
  private static final int MAP = 40;
  private static final int ROWS = 48;
  private static final int PARTITIONS = 52;
  private static final int CHUNKS = 56;
  private static final int COUNT_STRIDE = 60;
  private static final int ID_WIDTH = 64;
  private static final int MAP_WIDTH = 68;
  private static final int MAP_SHIFT = 72;
  private static final int MAP_MASK = 76;
  private static final int KEY_COLUMNS = 80;
  private static final int NULLS_PRESENT = 84;
  private static final int COLUMNS = 88;
  private static final int TILE_ROWS = 92;
  private static final int CONTROL_SLOT = 96;
  private static final int RULE = 104;
  private static final int KEYS = 144;
  private static final int KEY_BYTES = 56;
  private static final int MOVED = KEYS + MAX_KEY_COLUMNS * KEY_BYTES;
  private static final int MOVED_BYTES = 24;

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

  /** One key column or struct level; 0 for an address that it has not. */
  record Key(
      long data,
      long validity,
      long offsets,
      long nanos,
      long rowOffset,
      DataType type,
      int parent) {}

  private final KernelArguments arguments = new KernelArguments(BYTES);
  private int keys;

  PartitionArguments size(int rows, int partitions) {
    arguments.putInt(ROWS, rows).putInt(PARTITIONS, partitions);
    return this;
  }

  PartitionArguments chunks(int chunks, int tileRows, int countStride) {
    arguments.putInt(CHUNKS, chunks).putInt(TILE_ROWS, tileRows).putInt(COUNT_STRIDE, countStride);
    return this;
  }

  PartitionArguments scratch(long counts, long totals, long ids, int idWidth, int controlSlot) {
    arguments
        .putLong(COUNTS, counts)
        .putLong(TOTALS, totals)
        .putLong(IDS, ids)
        .putInt(ID_WIDTH, idWidth)
        .putInt(CONTROL_SLOT, controlSlot);
    return this;
  }

  /**
   * @param host mapped host memory, or 0
   */
  PartitionArguments offsets(long device, long host) {
    arguments.putLong(DEVICE_OFFSETS, device).putLong(HOST_OFFSETS, host);
    return this;
  }

  PartitionArguments map(long address, int width, int shift, int mask) {
    arguments
        .putLong(MAP, address)
        .putInt(MAP_WIDTH, width)
        .putInt(MAP_SHIFT, shift)
        .putInt(MAP_MASK, mask);
    return this;
  }

  PartitionArguments rule(
      HashFunction function, PartitionAssigner numbering, boolean nullsPresent) {
    arguments
        .putInt(NULLS_PRESENT, nullsPresent ? 1 : 0)
        .putLong(RULE, PartitionAssigner.multiplier(numbering.partitions()))
        .putLong(RULE + 8, PartitionAssigner.multiplier(numbering.maximumParallelism()))
        .putInt(RULE + 16, ALGORITHMS.indexOf(function.algorithm()))
        .putInt(RULE + 20, function.seed())
        .putInt(RULE + 24, RULES.indexOf(numbering.rule()))
        .putInt(RULE + 28, numbering.partitions())
        .putInt(RULE + 32, numbering.maximumParallelism())
        .putInt(RULE + 36, numbering.partitions());
    return this;
  }

  /** Adds a key column; returns its position, for columns inside it. */
  int key(Key key) {
    int at = KEYS + keys * KEY_BYTES;
    arguments
        .putLong(at, key.data())
        .putLong(at + 8, key.validity())
        .putLong(at + 16, key.offsets())
        .putLong(at + 24, key.nanos())
        .putLong(at + 32, key.rowOffset())
        .putInt(at + 40, KEY_TYPES.indexOf(key.type().id()))
        .putInt(at + 44, key.type().precision())
        .putInt(at + 48, key.parent())
        .putInt(at + 52, modifier(key.type()))
        .putInt(KEY_COLUMNS, keys + 1);
    return keys++;
  }

  private static int modifier(DataType type) {
    return type.withTimeZone() ? 1 : type.scale();
  }

  /** The columns to move, in place of any before: at most {@link #MAX_COLUMNS}. */
  PartitionArguments moves(List<GatherPlan.FixedWidthGather> moves) {
    putMoves(arguments, MOVED, moves);
    arguments.putInt(COLUMNS, moves.size());
    return this;
  }

  static void putMoves(
      KernelArguments arguments, int offset, List<GatherPlan.FixedWidthGather> moves) {
    for (int i = 0; i < moves.size(); i++) {
      GatherPlan.FixedWidthGather move = moves.get(i);
      int at = offset + i * MOVED_BYTES;
      arguments
          .putLong(at, move.input())
          .putLong(at + 8, move.output())
          .putInt(at + 16, move.width());
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
