// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import java.util.stream.LongStream;

/** The long strings of a block, on the device. */
@Internal
public final class BlockStrings implements AutoCloseable {
  // null if there are none.
  private final Buffer words;
  private final ChunkTable chunkTable;

  /**
   * @param address host address of the words
   * @param bytes of the words
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public BlockStrings(long address, long bytes, DeviceStream stream, MemoryResource memory) {
    words = bytes == 0 ? null : Buffer.copyOf(address, bytes, stream, memory);
    chunkTable = new ChunkTable(stream, memory);
  }

  /**
   * The address of an INT64 for each chunk of {@link LongStrings}, its address; 0 if there are no
   * strings.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public long chunks(AccessScope scope) {
    if (words == null) {
      return 0;
    }
    long address = words.access(AccessMode.READ, scope);
    int count = (int) ((words.size() - 1) / LongStrings.CHUNK_BYTES) + 1;
    long[] addresses =
        LongStream.range(0, count)
            .map(chunk -> address + chunk * LongStrings.CHUNK_BYTES)
            .toArray();
    return chunkTable.access(addresses, scope);
  }

  @Override
  public void close() {
    chunkTable.close();
    if (words != null) {
      words.close();
    }
  }
}
