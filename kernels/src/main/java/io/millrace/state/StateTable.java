// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.StateKernels.Counts;
import io.millrace.state.UpdateScratch.Staged;
import io.millrace.state.row.BlockStrings;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.ChunkTable;
import io.millrace.state.row.ConstantColumn;
import io.millrace.state.row.CopiedExtents;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.PageEpochs;
import io.millrace.state.row.StateAccess;
import io.millrace.state.row.StateRows;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.StateSelection;
import io.millrace.state.row.UpdateTime;
import io.millrace.state.string.StringChunks;
import io.millrace.state.string.TableStrings;
import io.millrace.state.string.TableStrings.Chunks;
import java.nio.LongBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Accumulators for each key, updated by batches. A hash index leads from keys to rows; rows lie in
 * chunks. While a {@link #snapshot} holds chunks, an update first copies them. Between updates,
 * extents are spilled one by one if memory is spillable: an update uses those in pinned host memory
 * where they are, and brings those on disk back. Rows stay when their key's rows were taken back.
 *
 * <p>The same batches in the same order give the same rows and the same results, on the host and on
 * a GPU. Used by one thread.
 */
@PublicEvolving
public final class StateTable implements AutoCloseable {
  private static final long MAX_ROWS = 0xfffffffeL;
  private static final AtomicLong IDS = new AtomicLong();

  private final StateSchema schema;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final StateRows rows;
  private final TableStrings strings;
  private final PageEpochs pageEpochs;
  private final ChunkTable chunkTable;
  private final KeyIndex index;
  private final UpdateScratch scratch;
  private final long id = IDS.incrementAndGet();
  // Read by threads that report metrics.
  private volatile long rowCount;
  private volatile long reservedBytes;
  // Of the updates behind the last snapshot.
  private long epoch = 1;

  /**
   * An empty table.
   *
   * @param stream orders the table's memory and work; stays open as long as the table
   * @param memory of the rows and the index, and of results
   */
  public StateTable(StateSchema schema, DeviceStream stream, MemoryResource memory) {
    this(new UpdateScratch(schema, stream, memory, false));
  }

  /**
   * As above, with what {@code scratch} has; if it is shared, the caller closes it, behind this.
   */
  public StateTable(UpdateScratch scratch) {
    this.scratch = scratch;
    this.schema = scratch.schema();
    this.stream = scratch.stream();
    this.memory = scratch.memory();
    this.rows = new StateRows(schema.rowBytes(), stream, memory);
    this.strings = new TableStrings(schema, stream, memory);
    this.pageEpochs = new PageEpochs(schema.rowBytes(), stream, memory);
    this.chunkTable = new ChunkTable(stream, memory);
    this.index = new KeyIndex(StateBatch.KERNELS.of(stream.device()), stream, memory);
  }

  public StateSchema schema() {
    return schema;
  }

  /** Orders the table's memory and work. */
  DeviceStream stream() {
    return stream;
  }

  MemoryResource memory() {
    return memory;
  }

  /** The number of rows: keys that are present, and keys that were. Any thread may ask. */
  public long rowCount() {
    return rowCount;
  }

  /** Bytes of rows, long strings and index, with room for further keys. Any thread may ask. */
  public long reservedBytes() {
    return reservedBytes;
  }

  /** The extents of rows and long strings that were copied on write. Any thread may ask. */
  public CopiedExtents copied() {
    return rows.copied().plus(strings.copied());
  }

  /** The slots of the index, of which each row takes one. Any thread may ask. */
  public long indexSlots() {
    return index.slots();
  }

  /** As {@link #update(Table, UpdateTime)}, of a table whose rows do not expire. */
  public Table update(Table batch) {
    return update(batch, null);
  }

  /**
   * Combines the rows of a batch with the state: makes one attempt, which changes nothing if it
   * fails. Waits for the number of changed keys. A key whose row has expired is a new key. Where
   * rows expire, every update of a key changes it, also if its values stay the same.
   *
   * @param batch of {@link StateSchema#input}; stays the caller's
   * @param time of the update; null if {@link StateSchema#hasTime} is false
   * @return two rows of {@link StateSchema#changes} for each distinct key of the batch, in the
   *     order of their first rows: the values before the batch and the values after it. The kind of
   *     a row is {@link ChangeKind#NONE} if there is no such row: before a key is new, after its
   *     last row was taken back, and if nothing changed. The caller closes the table
   * @throws GpuOutOfMemoryException if there is too little memory for new keys or the result
   */
  public Table update(Table batch, UpdateTime time) {
    schema.checkTime(time);
    try (StateChanges result = changes(schema, batch)) {
      reserve(batch.rowCount(), result.mostStringWords(), result.mostValueWords());
      try (AccessScope scope = AccessScope.on(stream)) {
        StateInput input = result.input(batch, time, scope);
        Counts counts = batch.rowCount() > 0 ? update(input, batch.rowCount(), scope) : Counts.NONE;
        result.finish(input, counts.changedKeys(), strings.valueChunks());
      }
      return result.table();
    }
  }

  private StateChanges changes(StateSchema input, Table batch) {
    return new StateChanges(input, schema.changes(), batch, strings, rowCount, stream, memory);
  }

  /** As {@link #update(Table)}, for a caller that does not need the changes. */
  public void accumulate(Table batch) {
    accumulate(schema, batch);
  }

  /** As {@link #accumulate}, of {@link #partials}; not of values combined in the rows' order. */
  public void accumulatePartials(Table partials) {
    accumulate(schema.ofSecondPhase(), partials);
  }

  private void accumulate(StateSchema input, Table batch) {
    if (batch.rowCount() == 0) {
      return;
    }
    schema.checkTime(null);
    long keyWords = ChangedKeys.mostStringWords(input.keysOfBatches(), batch, stream);
    long valueWords = ChangedKeys.mostStringWords(input.stringColumns(), batch, stream);
    reserve(batch.rowCount(), keyWords, valueWords);
    try (Table noRows = batch.slice(0, 0);
        StateChanges none = changes(input, noRows);
        AccessScope scope = AccessScope.on(stream)) {
      update(none.input(batch, null, scope).withoutResult(), batch.rowCount(), scope);
    }
  }

  /**
   * Combines rows of another table of this schema with the state, on the device: makes one attempt,
   * as {@link #update(Table)} does.
   *
   * @param other rows of another table; stays the caller's
   * @param extent whose rows are combined; below {@link StateSnapshot#extentCount}
   */
  public void merge(StateSnapshot other, int extent) {
    Buffer input = other.extent(extent);
    int inputRows = (int) (input.size() / schema.rowBytes());
    // Only the rows tell which of the strings are theirs.
    reserve(inputRows, other.strings().keyWords(), other.strings().valueWords());
    try (StringChunks inputStrings = new StringChunks(stream, memory);
        AccessScope scope = AccessScope.on(stream)) {
      long address = input.accessInPlace(AccessMode.READ, scope);
      Chunks chunks = inputStrings.read(other.strings(), scope);
      update(StateInput.ofRows(schema, address, chunks, Expiry.NEVER), inputRows, scope);
    }
  }

  /** The number of rows of a chunk. */
  public int chunkRows() {
    return 1 << rows.chunkShift();
  }

  /**
   * Adds rows that were copied from another table of this schema: makes one attempt, as {@link
   * #update(Table)} does.
   *
   * @param other on the same stream; has the long strings of the rows
   * @param copies the rows, one behind the other; at most one for each key if the schema {@link
   *     StateSchema#isOrdered}. Stays the caller's
   * @param replaced which rows of this table they replace
   */
  public void merge(
      StateTable other, Buffer copies, StateSelection.Counts counts, Expiry replaced) {
    if (counts.rows() == 0) {
      return;
    }
    long values = (long) counts.rows() * schema.valueTails().size();
    reserve(counts.rows(), counts.stringWords(), other.strings.mostValueWords(values));
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = copies.access(AccessMode.READ, scope);
      Chunks chunks = other.strings.read(scope);
      update(StateInput.ofRows(schema, address, chunks, replaced), counts.rows(), scope);
    }
  }

  /**
   * The rows and the index; there is a row. Rows that are written to are marked with the epoch.
   *
   * @param mode of the rows
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public StateAccess access(AccessMode mode, AccessScope scope) {
    KeyIndex.Access slots = index.access(scope);
    long[] chunks = mode == AccessMode.WRITE ? rows.access(scope) : rows.read(scope);
    Chunks stringChunks = strings.read(scope);
    return new StateAccess(
        schema,
        rowCount,
        LongBuffer.wrap(chunks),
        chunkTable.access(chunks, scope),
        rows.chunkShift(),
        slots.address(),
        slots.slots(),
        stringChunks.keys(),
        stringChunks.values(),
        mode == AccessMode.WRITE ? pageEpochs.access(scope) : 0,
        epoch);
  }

  /**
   * The words of the keys of a batch, valid as long as the batch and the scope are.
   *
   * @param batch of the schema's input; stays the caller's
   */
  public static List<KeyWord> keyWords(StateSchema schema, Table batch, AccessScope scope) {
    return ChangedKeys.words(schema, batch, scope);
  }

  /**
   * Rows as columns: makes one attempt. Enqueued on the table's stream; waits if keys have strings.
   *
   * @param firstRow the first row of the result
   * @param count rows of the result; {@code firstRow + count} is at most {@link #rowCount}
   * @param constants at most 4
   * @return the rows in their order, with the columns of {@link StateSchema#changes} and {@code
   *     constants} behind them; the kind of a row is {@link ChangeKind#INSERT}, or {@link
   *     ChangeKind#NONE} if all rows of its key were taken back. The caller closes the table
   * @throws GpuOutOfMemoryException if there is too little memory for the result, or a column of it
   *     would have more than 2 Gi bytes
   */
  public Table values(long firstRow, int count, List<ConstantColumn> constants) {
    Schema changes = schema.changes();
    return columns(
        StateValues.of(schema, changes, constants, count, stream, memory), firstRow, count);
  }

  /**
   * The accumulators of rows as they are stored, for updates of a table of {@link
   * StateSchema#ofSecondPhase}: otherwise as {@link #values}. The columns are those of {@link
   * StateSchema#partials}.
   */
  public Table partials(long firstRow, int count) {
    return columns(StateValues.partials(schema, count, stream, memory), firstRow, count);
  }

  private Table columns(StateValues columns, long firstRow, int count) {
    try (columns) {
      Objects.checkFromIndexSize(firstRow, count, rowCount);
      try (AccessScope scope = AccessScope.on(stream)) {
        if (count > 0) {
          columns.write(firstRow, access(AccessMode.READ, scope), scope);
        } else {
          columns.clear(scope);
        }
      }
      return columns.table();
    }
  }

  /** Gives back what only updates need, also if tables share it; the next update allocates it. */
  public void releaseScratch() {
    scratch.close();
    strings.releaseScratch();
  }

  /**
   * Combines rows of another table of this schema with the state: makes one attempt, as {@link
   * #update(Table)} does.
   *
   * @param block with one row for each key at most; stays the caller's
   */
  public void merge(StateBlock block) {
    if (block.rowCount() == 0) {
      return;
    }
    long stringWords = block.stringBytes() / Long.BYTES;
    reserve(block.rowCount(), stringWords, stringWords);
    try (Buffer input = Buffer.copyOf(block.address(), block.byteCount(), stream, memory);
        BlockStrings inputStrings =
            new BlockStrings(block.stringAddress(), block.stringBytes(), stream, memory);
        AccessScope scope = AccessScope.on(stream)) {
      long address = input.access(AccessMode.READ, scope);
      Chunks chunks = Chunks.of(inputStrings.chunks(scope));
      update(StateInput.ofRows(schema, address, chunks, Expiry.NEVER), block.rowCount(), scope);
    }
  }

  private Counts update(StateInput input, int inputRows, AccessScope scope) {
    KeyIndex.Access slots = index.access(scope);
    long chunks = chunkTable.access(rows.access(scope), scope);
    TableStrings.Access stringAccess = strings.access(inputRows, scope);
    Staged staged = scratch.accessStaged(rows, slots, inputRows, scope);
    StateBatch.Target target =
        new StateBatch.Target(
            rows, chunks, rowCount, slots, pageEpochs, epoch, stringAccess, staged);
    try {
      StateBatch batch = StateBatch.of(schema, input, inputRows, scratch, target, scope, stream);
      Counts counts = StateBatch.KERNELS.of(stream.device()).update(batch);
      return StateKernels.afterFirstWrite(
          stream,
          () -> {
            strings.updated(stringAccess, counts.stringWords(), counts.changedKeys());
            long total = rowCount + counts.newKeys();
            rowCount = total;
            return counts;
          });
    } catch (RuntimeException | Error e) {
      scratch.close();
      throw e;
    }
  }

  private void reserve(int newRows, long newKeyWords, long newValueWords) {
    long needed = rowCount + newRows;
    if (needed > MAX_ROWS) {
      throw new IllegalStateException(
          "expected at most " + MAX_ROWS + " keys per subtask, got up to " + needed);
    }
    rows.reserve(needed);
    strings.reserve(newKeyWords, newValueWords, newRows, rows, rowCount);
    pageEpochs.reserve(needed);
    index.reserve(needed);
    reservedBytes =
        rows.reservedBytes()
            + strings.reservedBytes()
            + pageEpochs.reservedBytes()
            + index.reservedBytes();
  }

  /**
   * The rows of now: makes one attempt. An update copies an extent that a snapshot holds and it
   * writes to, so this takes time for each extent alone; at once without copy-on-write.
   */
  public StateSnapshot snapshot() {
    return StateSnapshot.share(schema, rowCount, rows, strings, pageEpochs, id, epoch++);
  }

  /** The slots of the index of now; there is a row. The caller closes the buffer. */
  public Buffer shareIndex() {
    return index.share();
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(rows::close);
    failure.run(strings::close);
    failure.run(pageEpochs::close);
    failure.run(chunkTable::close);
    failure.run(index::close);
    failure.run(scratch::closeUnlessShared);
    failure.rethrow();
  }
}
