// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.PublicEvolving;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import java.io.IOException;
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
  private final List<Buffer> chunks;

  /** Takes ownership of the chunks. */
  StateSnapshot(StateSchema schema, long rowCount, List<Buffer> chunks) {
    this.schema = schema;
    this.rowCount = rowCount;
    this.chunks = chunks;
  }

  public StateSchema schema() {
    return schema;
  }

  public long rowCount() {
    return rowCount;
  }

  /** The number of chunks that the rows are in. */
  public int chunkCount() {
    return chunks.size();
  }

  /** The rows of a chunk, one behind the other. */
  Buffer chunk(int position) {
    return chunks.get(position);
  }

  /**
   * Copies rows to the host and waits for them: makes one attempt. The chunk of the rows is on the
   * device only meanwhile.
   *
   * @param first the first row; below {@link #rowCount}
   * @param stream of the table's device, of the calling thread alone
   * @return rows from {@code first} on, in their order, of up to {@link #BLOCK_BYTES}; the caller
   *     closes the block
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no room to bring a spilled chunk
   *     back, or no staging memory
   */
  public StateBlock block(long first, DeviceStream stream) {
    Objects.checkIndex(first, rowCount);
    long offset = first * schema.rowBytes();
    int chunk = 0;
    while (offset >= chunks.get(chunk).size()) {
      offset -= chunks.get(chunk).size();
      chunk++;
    }
    long bytes = Math.min(BLOCK_BYTES, chunks.get(chunk).size() - offset);
    int rows = (int) (bytes / schema.rowBytes());
    StateBlock block = new StateBlock(schema, rows, stream.device());
    try (AccessScope scope = AccessScope.on(stream)) {
      long address = chunks.get(chunk).access(AccessMode.READ, scope);
      stream.copy(block.address(), address + offset, block.byteCount());
      stream.synchronize();
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
    chunks.forEach(chunk -> failure.run(chunk::close));
    failure.rethrow();
  }
}
