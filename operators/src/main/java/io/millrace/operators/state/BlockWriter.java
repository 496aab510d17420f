// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.device.DeviceStream;
import io.millrace.device.HostMemory;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.state.StateBlock;
import io.millrace.state.StateSnapshot;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Writes rows of a snapshot as blocks. A block is its number of rows; if a key column is a STRING
 * or BINARY column, the number of bytes of the rows' long strings and the CRC-32C of this number;
 * the CRC-32C of the rows and the strings; the rows; the strings, which no other block refers to.
 * Numbers are big-endian; rows have the layout of {@link io.millrace.state.row.StateSchema}, in
 * little-endian words; rows and strings are {@link CheckpointBytes}. Used by one thread.
 */
final class BlockWriter {
  private static final int CHECKSUM_BYTES = 1 << 20;

  private final DeviceStream deviceStream;
  private final GpuRetry retry;
  private final CheckpointBytes bytes;

  /**
   * @param deviceStream that copies from the device; stays the caller's
   * @param isCompressed whether the checkpoint is compressed
   */
  BlockWriter(DeviceStream deviceStream, GpuRetry retry, boolean isCompressed) {
    this.deviceStream = deviceStream;
    this.retry = retry;
    this.bytes = new CheckpointBytes(isCompressed);
  }

  /** Writes the rows from {@code first} to before {@code end} of a table. */
  void write(StateSnapshot table, long first, long end, DataOutputStream target)
      throws IOException {
    try (StateSnapshot.Blocks blocks = table.blocks(first, end, deviceStream)) {
      for (StateBlock next = retry.withRetry(blocks::next);
          next != null;
          next = retry.withRetry(blocks::next)) {
        try (StateBlock block = next) {
          write(block, table.schema().hasStrings(), target);
        }
      }
    }
  }

  private void write(StateBlock block, boolean hasStrings, DataOutputStream target)
      throws IOException {
    target.writeInt(block.rowCount());
    if (hasStrings) {
      target.writeLong(block.stringBytes());
      target.writeInt(checksum(block.stringBytes()));
    }
    target.writeInt(checksum(block));
    bytes.write(block.address(), block.byteCount(), target);
    bytes.write(block.stringAddress(), block.stringBytes(), target);
  }

  static int checksum(StateBlock block) {
    CRC32C checksum = new CRC32C();
    checksum.update(HostMemory.byteBuffer(block.address(), block.byteCount()));
    for (long done = 0; done < block.stringBytes(); done += CHECKSUM_BYTES) {
      int size = (int) Math.min(CHECKSUM_BYTES, block.stringBytes() - done);
      checksum.update(HostMemory.byteBuffer(block.stringAddress() + done, size));
    }
    return (int) checksum.getValue();
  }

  static int checksum(long number) {
    CRC32C checksum = new CRC32C();
    checksum.update(ByteBuffer.allocate(Long.BYTES).putLong(0, number));
    return (int) checksum.getValue();
  }
}
