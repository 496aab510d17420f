// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.string;

import io.millrace.annotation.Internal;
import io.millrace.device.DeviceStream;
import io.millrace.memory.AccessScope;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.ChunkTable;
import io.millrace.state.string.TableStrings.Chunks;

/** The addresses of the chunks of shared strings, on the device. */
@Internal
public final class StringChunks implements AutoCloseable {
  private final ChunkTable keys;
  private final ChunkTable values;

  public StringChunks(DeviceStream stream, MemoryResource memory) {
    this.keys = new ChunkTable(stream, memory);
    this.values = new ChunkTable(stream, memory);
  }

  /**
   * The addresses for reading.
   *
   * @throws io.millrace.device.GpuOutOfMemoryException if there is too little memory
   */
  public Chunks read(SharedStrings strings, AccessScope scope) {
    return new Chunks(
        strings.keys().isEmpty()
            ? 0
            : keys.access(SharedStrings.read(strings.keys(), scope), scope),
        strings.values().isEmpty()
            ? 0
            : values.access(SharedStrings.read(strings.values(), scope), scope));
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(keys::close);
    failure.run(values::close);
    failure.rethrow();
  }
}
