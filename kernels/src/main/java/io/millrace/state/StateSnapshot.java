// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.device.StagingBuffer;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.state.row.PageEpochs;
import io.millrace.state.row.StateRows;
import io.millrace.state.row.StateSchema;
import io.millrace.state.string.SharedStrings;
import io.millrace.state.string.TableStrings;
import java.io.IOException;
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
   * @param stream as in {@link #block}
   * @return a number for each page
   * @throws io.millrace.device.GpuOutOfMemoryException as {@link #block}
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
   * Copies rows to the host and waits for them: makes one attempt. An extent that was spilled to
   * pinned host memory is read there.
   *
   * @param first the first row; below {@link #rowCount}
   * @param stream of the table's device, of the calling thread alone
   * @return rows from {@code first} on, in their order, of up to {@link #BLOCK_BYTES} together with
   *     their long strings, but at least one row; the caller closes the block
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no room to bring an extent back
   *     from disk, or no staging memory
   */
  public StateBlock block(long first, DeviceStream stream) {
    return block(first, Integer.MAX_VALUE, stream);
  }

  /** As {@link #block(long, DeviceStream)}, of at most {@code mostRows} rows. */
  public StateBlock block(long first, int mostRows, DeviceStream stream) {
    Objects.checkIndex(first, rowCount);
    long offset = first * schema.rowBytes();
    int extent = 0;
    while (offset >= extents.get(extent).size()) {
      offset -= extents.get(extent).size();
      extent++;
    }
    long bytes = Math.min(BLOCK_BYTES, extents.get(extent).size() - offset);
    int rows = (int) Math.min(mostRows, bytes / schema.rowBytes());
    StateBlock block = new StateBlock(schema, rows, 0, stream.device());
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = extents.get(extent).accessInPlace(AccessMode.READ, scope);
      stream.copy(block.address(), address + offset, block.byteCount());
      stream.synchronize();
      block.takeStrings(BLOCK_BYTES, strings, stream.device(), scope);
      return block;
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
   * Hands all rows to {@code consumer}, as {@link #block} gives them.
   *
   * @throws IOException if the consumer throws it
   */
  public void read(DeviceStream stream, BlockConsumer consumer) throws IOException {
    for (long row = 0; row < rowCount; ) {
      try (StateBlock block = block(row, stream)) {
        row += block.rowCount();
        consumer.accept(block);
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
