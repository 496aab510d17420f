// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceEvent;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.state.row.ChunkTable;
import io.millrace.state.row.PageEpochs;
import io.millrace.state.row.StateAccess;
import io.millrace.state.row.StateRows;
import io.millrace.state.row.StateSchema;
import io.millrace.state.string.SharedStrings;
import io.millrace.state.string.StringChunks;
import io.millrace.state.string.TableStrings;
import io.millrace.state.string.TableStrings.Chunks;
import java.io.IOException;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The rows of a state table at one moment, shared with the table until the table writes to them.
 * May be read and closed by another thread than the table's.
 */
@PublicEvolving
public final class StateSnapshot implements AutoCloseable {
  /** Bytes of a block at most. */
  public static final int BLOCK_BYTES = 4 << 20;

  private final StateSchema schema;
  private final long rowCount;
  private final List<Buffer> extents;
  private final SharedStrings strings;
  // null if there are no rows.
  private final Buffer pageEpochs;
  private final long tableId;
  private final long epoch;

  private StateSnapshot(
      StateSchema schema,
      long rowCount,
      List<Buffer> extents,
      SharedStrings strings,
      Buffer pageEpochs,
      long tableId,
      long epoch) {
    this.schema = schema;
    this.rowCount = rowCount;
    this.extents = extents;
    this.strings = strings;
    this.pageEpochs = pageEpochs;
    this.tableId = tableId;
    this.epoch = epoch;
  }

  /** The first {@code rowCount} rows of a table, with all of its long strings. */
  static StateSnapshot share(
      StateSchema schema,
      long rowCount,
      StateRows rows,
      TableStrings strings,
      PageEpochs pageEpochs,
      long tableId,
      long epoch) {
    FirstFailure release = new FirstFailure();
    List<Runnable> shared = new ArrayList<>();
    try {
      List<Buffer> extents = rows.share(rowCount);
      extents.forEach(extent -> shared.add(extent::close));
      SharedStrings words = strings.share();
      shared.add(words::close);
      Buffer epochs = rowCount == 0 ? null : pageEpochs.share(rowCount);
      return new StateSnapshot(schema, rowCount, extents, words, epochs, tableId, epoch);
    } catch (RuntimeException | Error e) {
      release.add(e);
      shared.forEach(release::run);
      throw e;
    }
  }

  public StateSchema schema() {
    return schema;
  }

  public long rowCount() {
    return rowCount;
  }

  /** The table that the rows are of: a number that no other table of the process has or had. */
  public long tableId() {
    return tableId;
  }

  /** A number that grows with each snapshot of the table. */
  public long epoch() {
    return epoch;
  }

  /** The rows of a page, the unit whose changes are told. */
  public int pageRows() {
    return PageEpochs.pageRows(schema.rowBytes());
  }

  /**
   * Copies to the host when the rows were written to last, and waits for it: makes one attempt. A
   * page whose number is not larger than the {@link #epoch} of an earlier snapshot of the table has
   * the rows and the long strings that it had then.
   *
   * @param stream as in {@link #blocks}
   * @return a number for each page
   * @throws io.millrace.device.GpuOutOfMemoryException as {@link Blocks#next}
   */
  public long[] pageEpochs(DeviceStream stream) {
    if (pageEpochs == null) {
      return new long[0];
    }
    long[] epochs = new long[(int) (pageEpochs.size() / Long.BYTES)];
    try (StagingBuffer staging = stream.device().stagingPool().acquire(pageEpochs.size());
        AccessScope scope = AccessScope.on(stream)) {
      long address = pageEpochs.accessInPlace(AccessMode.READ, scope);
      stream.copy(staging.address(), address, pageEpochs.size());
      stream.synchronize();
      HostMemory.copyToArray(epochs, staging.address(), epochs.length);
    }
    return epochs;
  }

  /**
   * The rows and an index over them, for lookups: there is a row.
   *
   * @param index that {@link StateTable#shareIndex} gave at the moment of the snapshot
   * @param chunks of the reader: gets the addresses of the rows
   * @param stringChunks of the reader: gets the addresses of the long strings
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public StateAccess access(
      Buffer index, ChunkTable chunks, StringChunks stringChunks, AccessScope scope) {
    // Before the rows, as KeyIndex says.
    long slots = index.useInPlace(AccessMode.READ, scope);
    long[] addresses = StateRows.read(extents, schema.rowBytes(), scope);
    Chunks words = stringChunks.read(strings, scope);
    return new StateAccess(
        schema,
        rowCount,
        LongBuffer.wrap(addresses),
        chunks.access(addresses, scope),
        StateRows.chunkShift(schema.rowBytes()),
        slots,
        index.size() / Long.BYTES,
        words.keys(),
        words.values(),
        0,
        epoch);
  }

  /** The number of extents that the rows are in. */
  public int extentCount() {
    return extents.size();
  }

  /** The rows of an extent, one behind the other. */
  Buffer extent(int position) {
    return extents.get(position);
  }

  /** The long strings, as long as this is open. */
  SharedStrings strings() {
    return strings;
  }

  /**
   * The rows from {@code first} to before {@code end}, as blocks.
   *
   * @param stream of the table's device, of the calling thread alone; stays open as long as this
   */
  public Blocks blocks(long first, long end, DeviceStream stream) {
    Objects.checkFromToIndex(first, end, rowCount);
    return new Blocks(first, end, stream);
  }

  /**
   * Rows that are copied to the host block by block, the next block while the caller uses the one
   * before it, unless there are long strings. An extent that was spilled to pinned host memory is
   * read there. Used by one thread.
   */
  public final class Blocks implements AutoCloseable {
    private final long end;
    private final DeviceStream stream;
    private long row;
    // The block from row on; null if its copy has not begun.
    private Copy ahead;

    private Blocks(long first, long end, DeviceStream stream) {
      this.row = first;
      this.end = end;
      this.stream = stream;
    }

    /**
     * The next rows: makes one attempt. Waits for them.
     *
     * @return rows in their order, of up to {@link #BLOCK_BYTES} together with their long strings,
     *     but at least one row; the caller closes the block. null behind the last row
     * @throws io.millrace.device.GpuOutOfMemoryException if there is no room to bring an extent
     *     back from disk, or no staging memory; the next call tries again
     */
    public StateBlock next() {
      if (row == end) {
        return null;
      }
      Copy copy = ahead == null ? copy(row, end, stream) : ahead;
      ahead = null;
      try {
        long next = row + copy.block.rowCount();
        ahead = next < end && !schema.hasStrings() ? copyAhead(next) : null;
        takeStrings(copy);
        row += copy.block.rowCount();
        return copy.block;
      } catch (RuntimeException | Error e) {
        FirstFailure failure = new FirstFailure();
        failure.add(e);
        failure.run(copy::close);
        failure.run(this::close);
        throw e;
      }
    }

    private Copy copyAhead(long first) {
      try {
        return copy(first, end, stream);
      } catch (GpuOutOfMemoryException e) {
        return null;
      }
    }

    private void takeStrings(Copy copy) {
      copy.end.synchronize();
      try (AccessScope scope = AccessScope.on(stream)) {
        copy.block.takeStrings(BLOCK_BYTES, strings, stream.device(), scope);
      }
      copy.end.close();
    }

    /** Gives up the rows that were not asked for. */
    @Override
    public void close() {
      if (ahead != null) {
        ahead.close();
        ahead = null;
      }
    }
  }

  // Rows on their way to a block, and the end of their copy.
  private record Copy(StateBlock block, DeviceEvent end) implements AutoCloseable {
    // The staging memory is used again.
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      failure.run(end::synchronize);
      failure.run(end::close);
      failure.run(block::close);
      failure.rethrow();
    }
  }

  private Copy copy(long first, long end, DeviceStream stream) {
    long offset = first * schema.rowBytes();
    int extent = 0;
    while (offset >= extents.get(extent).size()) {
      offset -= extents.get(extent).size();
      extent++;
    }
    long bytes = Math.min(BLOCK_BYTES, extents.get(extent).size() - offset);
    int rows = (int) Math.min(end - first, bytes / schema.rowBytes());
    StateBlock block = new StateBlock(schema, rows, 0, stream.device());
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = extents.get(extent).accessInPlace(AccessMode.READ, scope);
      stream.copy(block.address(), address + offset, block.byteCount());
      return new Copy(block, stream.recordEvent());
    } catch (RuntimeException | Error e) {
      block.close();
      throw e;
    }
  }

  /** Takes blocks of rows. */
  @FunctionalInterface
  public interface BlockConsumer {
    /** Takes a block, which is valid until this returns. */
    void accept(StateBlock block) throws IOException;
  }

  /**
   * Hands all rows to {@code consumer}, as {@link Blocks#next} gives them.
   *
   * @throws IOException if the consumer throws it
   */
  public void read(DeviceStream stream, BlockConsumer consumer) throws IOException {
    try (Blocks blocks = blocks(0, rowCount, stream)) {
      for (StateBlock next = blocks.next(); next != null; next = blocks.next()) {
        try (StateBlock block = next) {
          consumer.accept(block);
        }
      }
    }
  }

  /** Gives the rows up. Closing twice does nothing. */
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    extents.forEach(extent -> failure.run(extent::close));
    failure.run(strings::close);
    if (pageEpochs != null) {
      failure.run(pageEpochs::close);
    }
    failure.rethrow();
  }
}
