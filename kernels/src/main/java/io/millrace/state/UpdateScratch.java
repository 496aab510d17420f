// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.ChunkTable;
import io.millrace.state.row.StateRows;
import io.millrace.state.row.StateSchema;

/**
 * The scratch memory of the updates of a table, or of tables of one schema and stream that are
 * updated one after the other. Used by one thread.
 */
@PublicEvolving
public final class UpdateScratch implements AutoCloseable {
  private final StateSchema schema;
  private final DeviceStream stream;
  private final MemoryResource memory;
  private final boolean isShared;
  private final StagedRows stagedRows;
  // null if there is none.
  private Buffer buffer;
  private StateScratch layout;
  private int rows;
  private int batchNumber;

  /**
   * Without memory until the first update.
   *
   * @param stream orders the memory; stays open as long as this
   * @param isShared whether the memory is for several tables, so that it stays when a table closes
   */
  public UpdateScratch(
      StateSchema schema, DeviceStream stream, MemoryResource memory, boolean isShared) {
    this.schema = schema;
    this.stream = stream;
    this.memory = memory;
    this.isShared = isShared;
    this.stagedRows = new StagedRows(stream, memory);
  }

  /** The schema of the tables. */
  public StateSchema schema() {
    return schema;
  }

  DeviceStream stream() {
    return stream;
  }

  MemoryResource memory() {
    return memory;
  }

  /**
   * The address of memory for the next batch. Updates leave zeros where they found zeros, or
   * numbers of batches, so that the memory is cleared only when it is new and when the numbers
   * begin again.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  long access(int batchRows, AccessScope scope) {
    if (buffer == null || rows < batchRows) {
      StateScratch larger = StateScratch.of(batchRows, schema.partialWords(), schema.isOrdered());
      Buffer allocated = Buffer.allocate(larger.bytes(), stream, memory);
      releaseZeros();
      buffer = allocated;
      layout = larger;
      rows = batchRows;
      batchNumber = 0;
    }
    long address = buffer.access(AccessMode.WRITE, scope);
    if (batchNumber == 0) {
      stream.fill(address, (byte) 0, layout.zeroBytes());
      batchNumber = 1;
    } else {
      batchNumber++;
    }
    return address;
  }

  /**
   * Room for the rows of the state that lie in host memory, and to sort the rows of the next batch,
   * also if only the index lies there; see {@link StagedRows#access}.
   */
  Staged accessStaged(StateRows state, KeyIndex.Access index, int batchRows, AccessScope scope) {
    boolean isGpu = StateBatch.KERNELS.of(stream.device()).stagesRows();
    // Long strings of values are stored behind the kernels, in the rows where they are.
    boolean stages = isGpu && !schema.hasValueStrings();
    long[] hostChunks = stages ? state.hostChunks() : new long[0];
    boolean sorts = isGpu && index.isOnHost();
    if (hostChunks.length == 0 && !sorts) {
      return Staged.NONE;
    }
    long rowBytes = hostChunks.length == 0 ? 0 : (long) batchRows * schema.rowBytes();
    return stagedRows.access(hostChunks, rowBytes, batchRows, scope);
  }

  /** The layout of the memory that was accessed last. */
  StateScratch layout() {
    return layout;
  }

  /** The number of the batch that accessed the memory last. */
  int batchNumber() {
    return batchNumber;
  }

  /** Gives the memory back; the next access allocates it again. */
  @Override
  public void close() {
    releaseZeros();
    stagedRows.close();
  }

  /** Gives the memory back if it is that of one table, which is closed. */
  void closeUnlessShared() {
    if (!isShared) {
      close();
    }
  }

  private void releaseZeros() {
    if (buffer != null) {
      buffer.close();
      buffer = null;
    }
  }

  /**
   * Rows in host memory that an update copies to the device, as addresses.
   *
   * @param hostChunks of a bit for each chunk of rows, whether it lies in host memory; 0 if none
   *     does
   * @param rows of room for a state row for each row of the batch
   * @param sort of room to sort the rows of the batch; see {@link CudaStateFold}
   */
  record Staged(long hostChunks, long rows, long sort) {
    static final Staged NONE = new Staged(0, 0, 0);
  }

  /** The memory for these rows, on a GPU alone. */
  private static final class StagedRows implements AutoCloseable {
    private final DeviceStream stream;
    private final MemoryResource memory;
    private final ChunkTable hostChunks;
    // null if there is none.
    private Buffer buffer;

    StagedRows(DeviceStream stream, MemoryResource memory) {
      this.stream = stream;
      this.memory = memory;
      this.hostChunks = new ChunkTable(stream, memory);
    }

    /**
     * Room for the rows of the next batch.
     *
     * @param chunksOnHost bits of {@link StateRows#hostChunks}
     * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
     */
    Staged access(long[] chunksOnHost, long rowBytes, int batchRows, AccessScope scope) {
      long bytes = rowBytes + CudaStateFold.sortBytes(batchRows);
      if (buffer == null || buffer.size() < bytes) {
        Buffer larger = Buffer.allocate(bytes, stream, memory);
        releaseRows();
        buffer = larger;
      }
      long address = buffer.access(AccessMode.WRITE, scope);
      long bits = chunksOnHost.length == 0 ? 0 : hostChunks.access(chunksOnHost, scope);
      return new Staged(bits, address, address + rowBytes);
    }

    private void releaseRows() {
      if (buffer != null) {
        buffer.close();
        buffer = null;
      }
    }

    @Override
    public void close() {
      releaseRows();
      hostChunks.close();
    }
  }
}
