// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.PerDevice;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.StateInput.SumColumn;
import io.millrace.state.StateKernels.Counts;
import java.util.Arrays;

/**
 * Accumulators for each key, updated by batches. A hash index leads from keys to rows; rows lie in
 * chunks. While a {@link #snapshot} holds chunks, an update first copies them. Between updates,
 * chunks are spilled one by one if the memory is spillable; an update needs all of them on the
 * device. Rows stay when all rows of their key were taken back.
 *
 * <p>The same batches in the same order give the same rows and the same results, on the host and on
 * a GPU. Used by one thread.
 */
@PublicEvolving
public final class StateTable implements AutoCloseable {
  private static final PerDevice<StateKernels> KERNELS =
      new PerDevice<>(host -> new HostStateKernels(), CudaStateKernels::new);

  private static final long MIN_INDEX_SLOTS = 1024;
  // Of 10: an index with more entries per slot is replaced by one of twice the size.
  private static final long LOAD_TENTHS = 8;
  private static final long MAX_ROWS = 0xfffffffeL;

  private final StateSchema schema;
  private final Schema changes;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final StateRows rows;
  private Buffer index;
  private long indexSlots;
  // Read by threads that report metrics.
  private volatile long rowCount;
  private volatile long reservedBytes;
  // The addresses of chunks, and what was written there last; null until the first update.
  private Buffer chunkTable;
  private long[] chunkAddresses = {};
  // null until the first update.
  private Buffer scratch;
  private StateScratch scratchLayout;
  private int scratchRows;
  // Of the last batch that used the scratch memory.
  private int batchNumber;

  /**
   * An empty table.
   *
   * @param stream orders the table's memory and work; stays open as long as the table
   * @param memory of the rows and the index, and of results
   */
  public StateTable(StateSchema schema, DeviceStream stream, MemoryResource memory) {
    this.schema = schema;
    this.changes = schema.changes();
    this.stream = stream;
    this.memory = memory;
    this.rows = new StateRows(schema.rowBytes(), stream, memory);
  }

  public StateSchema schema() {
    return schema;
  }

  /** The number of rows: keys that are present, and keys that were. Any thread may ask. */
  public long rowCount() {
    return rowCount;
  }

  /** Bytes of the rows and the index, with their room for further keys. Any thread may ask. */
  public long reservedBytes() {
    return reservedBytes;
  }

  /**
   * Combines the rows of a batch with the state: makes one attempt, which changes nothing if it
   * fails. Waits for the work.
   *
   * @param batch of {@link StateSchema#input}; stays the caller's
   * @return two rows of {@link StateSchema#changes} for each distinct key of the batch, in the
   *     order of their first rows: the values before the batch and the values after it. The kind of
   *     a row is {@link ChangeKind#NONE} if there is no such row: before a key is new, after its
   *     last row was taken back, and if nothing changed. The caller closes the table
   * @throws GpuOutOfMemoryException if there is too little memory for new keys or the result
   */
  public Table update(Table batch) {
    int batchRows = batch.rowCount();
    reserve(batchRows);
    try (StateChanges result = new StateChanges(schema, changes, batchRows, stream, memory)) {
      if (batchRows == 0) {
        return result.table(0);
      }
      Counts counts;
      try (AccessScope scope = AccessScope.on(stream)) {
        StateInput input = result.input(batch, scope);
        counts = update(input, batchRows, scope);
        StateKernels kernels = KERNELS.of(stream.device());
        for (SumColumn sums : input.sums()) {
          kernels.maskOverflows(sums, 2L * counts.changedKeys(), stream);
        }
      }
      return result.table(counts.changedKeys());
    }
  }

  /**
   * Combines rows of another table of this schema with the state: makes one attempt, as {@link
   * #update} does.
   *
   * @param block with one row for each key at most; stays the caller's
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public void merge(StateBlock block) {
    if (block.rowCount() == 0) {
      return;
    }
    reserve(block.rowCount());
    try (Buffer input = Buffer.copyOf(block.address(), block.byteCount(), stream, memory);
        AccessScope scope = AccessScope.on(stream)) {
      long address = input.access(AccessMode.READ, scope);
      update(StateInput.ofRows(schema, address), block.rowCount(), scope);
    }
  }

  private Counts update(StateInput input, int inputRows, AccessScope scope) {
    long chunks = chunkTable(rows.access(scope), scope);
    long scratchAddress = scratch(inputRows, scope);
    try {
      Counts counts =
          KERNELS
              .of(stream.device())
              .update(
                  new StateBatch(
                      inputRows,
                      input.key(),
                      input.hasNullWord(),
                      input.values(),
                      schema.rowWords(),
                      batchNumber,
                      scratchAddress,
                      scratchLayout,
                      input.kinds(),
                      input.rowKinds(),
                      schema.rowCount(),
                      index.access(AccessMode.WRITE, scope),
                      indexSlots,
                      chunks,
                      rows.chunkShift(),
                      rowCount,
                      stream));
      long total = rowCount + counts.newKeys();
      rowCount = total;
      return counts;
    } catch (RuntimeException | Error e) {
      scratch.close();
      scratch = null;
      throw e;
    }
  }

  // Updates leave zeros where they found zeros, or numbers of batches, so that the memory is
  // cleared only when it is new and when the numbers begin again.
  private long scratch(int inputRows, AccessScope scope) {
    if (scratch == null || scratchRows < inputRows) {
      StateScratch layout = StateScratch.of(inputRows, schema.partialWords(), schema.isOrdered());
      Buffer larger = Buffer.allocate(layout.bytes(), stream, memory);
      if (scratch != null) {
        scratch.close();
      }
      scratch = larger;
      scratchLayout = layout;
      scratchRows = inputRows;
      batchNumber = 0;
    }
    long address = scratch.access(AccessMode.WRITE, scope);
    if (batchNumber == 0) {
      stream.fill(address, (byte) 0, scratchLayout.zeroBytes());
      batchNumber = 1;
    } else {
      batchNumber++;
    }
    return address;
  }

  private long chunkTable(long[] addresses, AccessScope scope) {
    long bytes = (long) addresses.length * Long.BYTES;
    if (chunkTable == null || chunkTable.size() < bytes) {
      Buffer larger = Buffer.allocate(2 * bytes, stream, memory);
      if (chunkTable != null) {
        chunkTable.close();
      }
      chunkTable = larger;
      chunkAddresses = new long[0];
    }
    if (Arrays.equals(addresses, chunkAddresses)) {
      return chunkTable.access(AccessMode.READ, scope);
    }
    long target = chunkTable.access(AccessMode.WRITE, scope);
    try (StagingBuffer staging = stream.device().stagingPool().acquire(bytes)) {
      HostMemory.copyFromArray(staging.address(), addresses, addresses.length);
      stream.copy(target, staging.address(), bytes);
      stream.synchronize();
    }
    chunkAddresses = addresses;
    return target;
  }

  private void reserve(int newRows) {
    long needed = rowCount + newRows;
    if (needed > MAX_ROWS) {
      throw new IllegalStateException(
          "expected at most " + MAX_ROWS + " keys per subtask, got up to " + needed);
    }
    rows.reserve(needed);
    long slots = Math.max(indexSlots, MIN_INDEX_SLOTS);
    while (needed > slots / 10 * LOAD_TENTHS) {
      slots *= 2;
    }
    if (slots > indexSlots) {
      growIndex(slots);
    }
    reservedBytes = rows.reservedBytes() + index.size();
  }

  private void growIndex(long slots) {
    Buffer larger = Buffer.allocate(slots * Long.BYTES, stream, memory);
    try (AccessScope scope = AccessScope.on(stream)) {
      long target = larger.access(AccessMode.WRITE, scope);
      stream.fill(target, (byte) 0, larger.size());
      if (index != null) {
        long source = index.access(AccessMode.READ, scope);
        KERNELS.of(stream.device()).moveIndex(source, indexSlots, target, slots, stream);
      }
    } catch (RuntimeException | Error e) {
      larger.close();
      throw e;
    }
    if (index != null) {
      index.close();
    }
    index = larger;
    indexSlots = slots;
  }

  /**
   * The rows of now. Later updates do not change them: a chunk is copied when it is written to
   * while a snapshot holds it. Enqueues nothing; takes time for each chunk, not for each row.
   */
  public StateSnapshot snapshot() {
    return new StateSnapshot(schema, rowCount, rows.share(rowCount));
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(rows::close);
    if (index != null) {
      failure.run(index::close);
    }
    if (chunkTable != null) {
      failure.run(chunkTable::close);
    }
    if (scratch != null) {
      failure.run(scratch::close);
    }
    failure.rethrow();
  }
}
