// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.Device;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuProperties;
import io.millrace.device.HostMemory;
import io.millrace.device.KernelArguments;
import io.millrace.device.KernelModule;
import io.millrace.device.KernelStructure;
import io.millrace.device.StagingBuffer;
import io.millrace.state.StateInput.SumColumn;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.CudaKeyWord;
import io.millrace.state.row.HostKeys;
import io.millrace.state.row.StateSchema;
import java.lang.invoke.VarHandle;

/** Launches the kernels of state.cu. One instance per device. */
final class CudaStateKernels implements StateKernels {
  /** The structure {@code AccumulatedValue} of state_arguments.cuh. */
  static final class ValueArguments {
    static final KernelStructure LAYOUT = new KernelStructure("AccumulatedValue");
    static final KernelStructure.Int64 DATA = LAYOUT.int64("data");
    static final KernelStructure.Int64 VALIDITY = LAYOUT.int64("validity");
    static final KernelStructure.Int64 ROW_OFFSET = LAYOUT.int64("row_offset");
    static final KernelStructure.Int64 OUTPUT = LAYOUT.int64("output");
    static final KernelStructure.Int32 STRIDE = LAYOUT.int32("stride");
    static final KernelStructure.Int32 TYPE = LAYOUT.int32("type");
    static final KernelStructure.Int32 OPERATION = LAYOUT.int32("operation");
    static final KernelStructure.Int32 RESULT = LAYOUT.int32("result");

    private ValueArguments() {}
  }

  /** The structure {@code StateArguments} of state_arguments.cuh. */
  static final class Arguments {
    static final KernelStructure LAYOUT = new KernelStructure("StateArguments");
    static final KernelStructure.Int64 GROUPS = LAYOUT.int64("groups");
    static final KernelStructure.Int64 CLAIMS = LAYOUT.int64("claims");
    static final KernelStructure.Int64 FOLLOWERS = LAYOUT.int64("followers");
    static final KernelStructure.Int64 PARTIALS = LAYOUT.int64("partials");
    static final KernelStructure.Int64 POSITIONS = LAYOUT.int64("positions");
    static final KernelStructure.Int64 LOOK_BACK = LAYOUT.int64("look_back");
    static final KernelStructure.Int64 NEXT_TILE = LAYOUT.int64("next_tile");
    static final KernelStructure.Int64 INDEX = LAYOUT.int64("index");
    static final KernelStructure.Int64 CHUNKS = LAYOUT.int64("chunks");
    static final KernelStructure.Int64 HOST_CHUNKS = LAYOUT.int64("host_chunks");
    static final KernelStructure.Int64 STAGED = LAYOUT.int64("staged");
    static final KernelStructure.Int64 STAGED_NUMBERS = LAYOUT.int64("staged_numbers");
    static final KernelStructure.Int64 STAGED_ROWS = LAYOUT.int64("staged_rows");
    static final KernelStructure.Int64 ORDER = LAYOUT.int64("order");
    static final KernelStructure.Int64 PAGE_EPOCHS = LAYOUT.int64("page_epochs");
    static final KernelStructure.Int64 EPOCH = LAYOUT.int64("epoch");
    static final KernelStructure.Int64 KINDS = LAYOUT.int64("kinds");
    static final KernelStructure.Int64 ROW_KINDS = LAYOUT.int64("row_kinds");
    static final KernelStructure.Int64 STRINGS = LAYOUT.int64("strings");
    static final KernelStructure.Int64 NEW_ROWS = LAYOUT.int64("new_rows");
    static final KernelStructure.Int64 COUNTS = LAYOUT.int64("counts");
    static final KernelStructure.Int64 INDEX_BUCKETS = LAYOUT.int64("index_buckets");
    static final KernelStructure.Int64 STATE_ROWS = LAYOUT.int64("state_rows");
    static final KernelStructure.Int64 OLDEST_TIME = LAYOUT.int64("oldest_time");
    static final KernelStructure.Int64 TIME_MASK = LAYOUT.int64("time_mask");
    static final KernelStructure.Int32 ROWS = LAYOUT.int32("rows");
    static final KernelStructure.Int32 GROUP_MASK = LAYOUT.int32("group_mask");
    static final KernelStructure.Int32 PARTIAL_BASE = LAYOUT.int32("partial_base");
    static final KernelStructure.Int32 KEY_WORDS = LAYOUT.int32("key_words");
    static final KernelStructure.Int32 HAS_NULL_WORD = LAYOUT.int32("has_null_word");
    static final KernelStructure.Int32 FIRST_ACCUMULATOR = LAYOUT.int32("first_accumulator");
    static final KernelStructure.Int32 ACCUMULATORS = LAYOUT.int32("accumulators");
    static final KernelStructure.Int32 ROW_WORDS = LAYOUT.int32("row_words");
    static final KernelStructure.Int32 CHUNK_SHIFT = LAYOUT.int32("chunk_shift");
    static final KernelStructure.Int32 TILES = LAYOUT.int32("tiles");
    static final KernelStructure.Int32 BATCH = LAYOUT.int32("batch");
    static final KernelStructure.Int32 ROW_COUNT = LAYOUT.int32("row_count");
    static final KernelStructure.Array KEY =
        LAYOUT.array("key", CudaKeyWord.LAYOUT, StateSchema.MAX_KEY_WORDS);
    static final KernelStructure.Array VALUE =
        LAYOUT.array("value", ValueArguments.LAYOUT, StateSchema.MAX_ACCUMULATOR_WORDS);

    private Arguments() {}
  }

  /** The structure {@code StateIndexArguments} of state_arguments.cuh. */
  static final class IndexArguments {
    static final KernelStructure LAYOUT = new KernelStructure("StateIndexArguments");
    static final KernelStructure.Int64 SOURCE = LAYOUT.int64("source");
    static final KernelStructure.Int64 TARGET = LAYOUT.int64("target");
    static final KernelStructure.Int64 SOURCE_SLOTS = LAYOUT.int64("source_slots");
    static final KernelStructure.Int64 TARGET_BUCKETS = LAYOUT.int64("target_buckets");

    private IndexArguments() {}
  }

  /** The structure {@code StateOverflowArguments} of state_overflow.cu. */
  static final class OverflowArguments {
    static final KernelStructure LAYOUT = new KernelStructure("StateOverflowArguments");
    static final KernelStructure.Int64 SUMS = LAYOUT.int64("sums");
    static final KernelStructure.Int64 TOPS = LAYOUT.int64("tops");
    static final KernelStructure.Int64 MASK = LAYOUT.int64("mask");
    static final KernelStructure.Int64 ROWS = LAYOUT.int64("rows");

    private OverflowArguments() {}
  }

  private static final int THREADS = StateScratch.TILE_ROWS;

  // Changed and new keys, whether a new key has a long string; then the words of long strings.
  private static final int COUNTS_BYTES = 3 * Long.BYTES;
  private static final int NEW_KEYS_SHIFT = 31;
  private static final long PENDING = -1;
  // About a tenth of a millisecond.
  private static final int MAX_SPINS = 2_000;

  // A row is written before too many others are read for the translation of its address to be kept:
  // 4096 rows are on the bus at once, and it is busy with 512.
  private static final int FETCH_BLOCKS = 32;

  private final KernelModule module;
  private final CudaStateStrings strings;
  private final KernelModule overflowModule;
  private final CudaStateFold fold;
  private final int residentBlocks;

  CudaStateKernels(Device device) {
    module = device.loadModule("state");
    strings = new CudaStateStrings(device);
    overflowModule = device.loadModule("state_overflow");
    fold = new CudaStateFold(device);
    GpuProperties gpu = device.properties();
    residentBlocks = gpu.multiprocessors() * (gpu.threadsPerMultiprocessor() / THREADS);
  }

  @Override
  public Counts update(StateBatch batch) {
    DeviceStream stream = batch.stream();
    KernelModule kernels = batch.hasStrings() ? strings.module() : module;
    try (StagingBuffer counts = stream.device().stagingPool().acquire(COUNTS_BYTES);
        KernelArguments arguments = arguments(batch, counts.address())) {
      HostMemory.fill(counts.address(), COUNTS_BYTES, (byte) 0);
      HostMemory.putLong(counts.address(), PENDING);
      if (batch.isIndexOnHost()) {
        sortByHash(batch, kernels, arguments);
      }
      int sharedBytes = batch.values().size() * THREADS * Long.BYTES;
      kernels
          .function("state_group")
          .launch(blocks(batch.rows()), THREADS, sharedBytes, stream, arguments);
      return StateKernels.afterFirstWrite(
          stream,
          () -> {
            if (batch.staged().hostChunks() == 0) {
              updateRows(batch, kernels, arguments);
            } else {
              updateStagedRows(batch, kernels, arguments);
            }
            return counts(batch, counts.address());
          });
    }
  }

  private void sortByHash(StateBatch batch, KernelModule kernels, KernelArguments arguments) {
    int blocks = StateScratch.tiles(batch.rows());
    kernels.function("state_hash").launch(blocks, THREADS, 0, batch.stream(), arguments);
    arguments.put(Arguments.ORDER, fold.sortByHash(batch).rows());
  }

  private void updateRows(StateBatch batch, KernelModule kernels, KernelArguments arguments) {
    int tiles = StateScratch.tiles(batch.rows());
    kernels.function("state_update").launch(tiles, THREADS, 0, batch.stream(), arguments);
    if (batch.isOrdered()) {
      fold.fold(batch);
    }
  }

  private void updateStagedRows(StateBatch batch, KernelModule kernels, KernelArguments arguments) {
    put(arguments, fold.sortStaged(batch));
    int blocks = StateScratch.tiles(2 * batch.rows());
    kernels
        .function("state_fetch")
        .launch(Math.min(blocks, FETCH_BLOCKS), THREADS, 0, batch.stream(), arguments);
    updateRows(batch, kernels, arguments);
    if (batch.isOrdered()) {
      kernels.function("state_return").launch(blocks, THREADS, 0, batch.stream(), arguments);
    }
  }

  private static KernelArguments put(KernelArguments arguments, CudaStateFold.Rows staged) {
    return arguments
        .put(Arguments.STAGED_NUMBERS, staged.groups())
        .put(Arguments.STAGED_ROWS, staged.rows());
  }

  private Counts counts(StateBatch batch, long address) {
    long counts = batch.hasStrings() ? PENDING : spin(address);
    if (counts == PENDING) {
      batch.stream().synchronize();
      counts = HostMemory.getLong(address);
    }
    int changedKeys = (int) (counts & ((1L << NEW_KEYS_SHIFT) - 1));
    int newKeys = (int) (counts >>> NEW_KEYS_SHIFT);
    boolean hasLongStrings = HostMemory.getInt(address + Long.BYTES) != 0;
    long added = address + 2 * Long.BYTES;
    return new Counts(
        changedKeys, newKeys, hasLongStrings ? strings.add(batch, newKeys, added) : 0);
  }

  // The counts come before the last rows are written: the host prepares what the stream does next.
  private static long spin(long address) {
    long counts = HostMemory.getLong(address);
    for (int i = 0; i < MAX_SPINS && counts == PENDING; i++) {
      Thread.onSpinWait();
      VarHandle.acquireFence();
      counts = HostMemory.getLong(address);
    }
    return counts;
  }

  @Override
  public boolean stagesRows() {
    return true;
  }

  private static KernelArguments arguments(StateBatch batch, long counts) {
    StateScratch scratch = batch.scratchLayout();
    KernelArguments arguments = new KernelArguments(Arguments.LAYOUT);
    arguments
        .put(Arguments.GROUPS, batch.scratch() + scratch.groups())
        .put(Arguments.CLAIMS, batch.scratch() + scratch.claims())
        .put(Arguments.FOLLOWERS, batch.scratch() + scratch.followers())
        .put(Arguments.PARTIALS, batch.scratch() + scratch.partials())
        .put(Arguments.POSITIONS, batch.isOrdered() ? batch.scratch() + scratch.positions() : 0)
        .put(Arguments.LOOK_BACK, batch.scratch() + scratch.lookBack())
        .put(Arguments.NEXT_TILE, batch.scratch() + scratch.nextTile())
        .put(Arguments.INDEX, batch.index())
        .put(Arguments.CHUNKS, batch.chunkTable())
        .put(Arguments.HOST_CHUNKS, batch.staged().hostChunks())
        .put(Arguments.STAGED, batch.staged().rows())
        .put(Arguments.PAGE_EPOCHS, batch.pageEpochs())
        .put(Arguments.EPOCH, batch.epoch())
        .put(Arguments.KINDS, batch.kinds())
        .put(Arguments.ROW_KINDS, batch.rowKinds())
        .put(Arguments.ROW_COUNT, batch.rowCount())
        .put(Arguments.STRINGS, batch.strings().keys().chunkTable())
        .put(Arguments.NEW_ROWS, batch.strings().keys().newRows())
        .put(Arguments.COUNTS, counts)
        .put(Arguments.INDEX_BUCKETS, HostKeys.buckets(batch.indexSlots()))
        .put(Arguments.STATE_ROWS, batch.stateRows())
        .put(Arguments.OLDEST_TIME, batch.expiry().oldest())
        .put(Arguments.TIME_MASK, batch.expiry().mask())
        .put(Arguments.ROWS, batch.rows())
        .put(Arguments.GROUP_MASK, StateScratch.groups(batch.rows()) - 1)
        .put(Arguments.PARTIAL_BASE, batch.partialBase())
        .put(Arguments.KEY_WORDS, batch.key().size())
        .put(Arguments.HAS_NULL_WORD, batch.hasNullWord() ? 1 : 0)
        .put(Arguments.FIRST_ACCUMULATOR, batch.firstAccumulator())
        .put(Arguments.ACCUMULATORS, batch.values().size())
        .put(Arguments.ROW_WORDS, batch.rowWords())
        .put(Arguments.CHUNK_SHIFT, batch.chunkShift())
        .put(Arguments.BATCH, batch.number())
        .put(Arguments.TILES, StateScratch.tiles(batch.rows()));
    put(arguments, CudaStateFold.stagedRows(batch));
    for (int i = 0; i < batch.key().size(); i++) {
      CudaKeyWord.put(arguments, Arguments.KEY.at(i), batch.key().get(i));
    }
    for (int i = 0; i < batch.values().size(); i++) {
      put(arguments, Arguments.VALUE.at(i), batch.values().get(i));
    }
    return arguments;
  }

  static void put(KernelArguments arguments, int at, AccumulatorValue value) {
    arguments
        .put(at, ValueArguments.DATA, value.data())
        .put(at, ValueArguments.VALIDITY, value.validity())
        .put(at, ValueArguments.ROW_OFFSET, value.rowOffset())
        .put(at, ValueArguments.OUTPUT, value.output())
        .put(at, ValueArguments.STRIDE, value.stride())
        .put(at, ValueArguments.TYPE, value.type())
        .put(at, ValueArguments.OPERATION, value.operation())
        .put(at, ValueArguments.RESULT, value.result());
  }

  private int blocks(long threads) {
    return (int) Math.min(residentBlocks, (threads - 1) / THREADS + 1);
  }

  @Override
  public void maskOverflows(SumColumn column, long rows, DeviceStream stream) {
    try (KernelArguments arguments = new KernelArguments(OverflowArguments.LAYOUT)) {
      arguments
          .put(OverflowArguments.SUMS, column.sums())
          .put(OverflowArguments.TOPS, column.tops())
          .put(OverflowArguments.MASK, column.mask())
          .put(OverflowArguments.ROWS, rows);
      int blocks = (int) ((rows - 1) / THREADS + 1);
      overflowModule.function("state_overflow").launch(blocks, THREADS, 0, stream, arguments);
    }
  }

  @Override
  public void moveIndex(
      long source, long slots, long target, long targetSlots, DeviceStream stream) {
    try (KernelArguments arguments = new KernelArguments(IndexArguments.LAYOUT)) {
      arguments
          .put(IndexArguments.SOURCE, source)
          .put(IndexArguments.TARGET, target)
          .put(IndexArguments.SOURCE_SLOTS, slots)
          .put(IndexArguments.TARGET_BUCKETS, HostKeys.buckets(targetSlots));
      module.function("state_index").launch(blocks(slots), THREADS, 0, stream, arguments);
    }
  }
}
