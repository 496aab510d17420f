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

  /** Takes blocks of rows. */
  @FunctionalInterface
  public interface BlockConsumer {
    /** Takes a block, which is valid until this returns. */
    void accept(StateBlock block) throws IOException;
  }

  /**
   * Hands all rows to {@code consumer}, in their order, in blocks of up to {@link #BLOCK_BYTES}.
   * Copies them from the device one block at a time and waits for each, so that other copies get in
   * between.
   *
   * @param stream of the table's device, of the calling thread alone
   * @throws io.millrace.device.GpuOutOfMemoryException if there is no room to bring a spilled chunk
   *     back, or no staging memory
   * @throws IOException if the consumer throws it
   */
  public void read(DeviceStream stream, BlockConsumer consumer) throws IOException {
    int blockRows = BLOCK_BYTES / schema.rowBytes();
    for (Buffer chunk : chunks) {
      try (AccessScope scope = AccessScope.on(stream)) {
        long address = chunk.access(AccessMode.READ, scope);
        long rows = chunk.size() / schema.rowBytes();
        for (long first = 0; first < rows; first += blockRows) {
          int count = (int) Math.min(blockRows, rows - first);
          try (StateBlock block = new StateBlock(schema, count, stream.device())) {
            stream.copy(block.address(), address + first * schema.rowBytes(), block.byteCount());
            stream.synchronize();
            consumer.accept(block);
          }
        }
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
