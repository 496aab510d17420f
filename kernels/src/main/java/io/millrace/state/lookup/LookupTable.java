// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.lookup;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.FirstFailure;
import io.millrace.memory.MemoryResource;
import io.millrace.state.StateSnapshot;
import io.millrace.state.row.ChunkTable;
import io.millrace.state.row.StateAccess;
import io.millrace.state.row.StateSchema;
import io.millrace.state.string.StringChunks;

/**
 * Rows that are found by their keys: a hash index over the keys, and the other columns. Made by a
 * {@link LookupTableBuilder}. Immutable; any number of threads look up at a time, each with a
 * {@link LookupReader}. Closed when none does any more.
 */
@PublicEvolving
public final class LookupTable implements AutoCloseable {
  private final StateSnapshot keys;
  // null if there are no rows.
  private final Buffer index;
  private final Table values;

  /** Takes ownership of all. */
  LookupTable(StateSnapshot keys, Buffer index, Table values) {
    this.keys = keys;
    this.index = index;
    this.values = values;
  }

  public int rowCount() {
    return values.rowCount();
  }

  /** The key columns, in the order in which a batch has them that is looked up. All nullable. */
  public Schema keySchema() {
    return keys.schema().input();
  }

  /** The other columns. All nullable. */
  public Schema valueSchema() {
    return values.schema();
  }

  StateSchema stateSchema() {
    return keys.schema();
  }

  /** The rows and the index; null if there are no rows. */
  StateAccess access(ChunkTable chunks, StringChunks strings, AccessScope scope) {
    return index == null ? null : keys.access(index, chunks, strings, scope);
  }

  /**
   * The other columns of rows: makes one attempt. Enqueued; waits if there are strings.
   *
   * @param rows of {@link LookupReader#rows}; stays the caller's
   * @param stream that the work is enqueued on, and that orders the result
   * @return a row for each of {@code rows}, all of whose columns are null where there is no row.
   *     The caller closes it
   * @throws GpuOutOfMemoryException if there is too little memory, or a column of the result would
   *     have more than 2 Gi bytes
   */
  public Table values(Column rows, DeviceStream stream, MemoryResource memory) {
    return Gather.gatherRepeated(values, rows, stream, memory);
  }

  /** Checks that a batch has the types of the keys. */
  void checkKeys(Schema batch) {
    boolean isSame = batch.size() == keySchema().size();
    for (int i = 0; isSame && i < batch.size(); i++) {
      isSame = batch.type(i).equals(keySchema().type(i));
    }
    if (!isSame) {
      throw new IllegalArgumentException(
          "expected keys of the types of "
              + keySchema().fields().stream().map(Field::type).toList()
              + ", got "
              + batch.fields().stream().map(Field::type).toList());
    }
  }

  /** The bytes of keys, index and other columns are released behind the work that reads them. */
  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    failure.run(keys::close);
    if (index != null) {
      failure.run(index::close);
    }
    failure.run(values::close);
    failure.rethrow();
  }
}
