// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.lookup;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.ChunkTable;
import io.millrace.state.string.StringChunks;

/** Looks keys up in lookup tables, on its own stream. Used by one thread. */
@PublicEvolving
public final class LookupReader implements AutoCloseable {
  private final StateLookup lookup;
  private final ChunkTable chunks;
  private final StringChunks strings;

  /**
   * @param stream that lookups are enqueued on, of the device of the tables
   * @param memory of results
   */
  public LookupReader(DeviceStream stream, MemoryResource memory) {
    this.lookup = new StateLookup(stream, memory);
    this.chunks = new ChunkTable(stream, memory);
    this.strings = new StringChunks(stream, memory);
  }

  /**
   * The rows of keys: makes one attempt. Enqueued; waits if the table is another one than before,
   * or was spilled meanwhile.
   *
   * @param table open until this returns
   * @param keys the columns of {@link LookupTable#keySchema}, with any names; stays the caller's
   * @return for each row of {@code keys} an INT, the number of the row with this key, or {@link
   *     StateLookup#NO_ROW}; without nulls. A key with a null in it has no row. The caller closes
   *     the column
   * @throws IllegalArgumentException if {@code keys} has other types than the table's keys
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public Column rows(LookupTable table, Table keys) {
    table.checkKeys(keys.schema());
    return lookup.rows(
        table.stateSchema(), scope -> table.access(chunks, strings, scope), keys, DataType.INT32);
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(chunks::close);
    failure.run(strings::close);
    failure.rethrow();
  }
}
