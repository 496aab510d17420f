// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.lookup;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessMode;
import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.state.StateTable;
import io.millrace.state.StateValues;
import io.millrace.state.lookup.LookupKernels.Copies;
import io.millrace.state.lookup.LookupKernels.Keys;
import io.millrace.state.row.ChunkTable;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.StateAccess;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import java.util.List;
import java.util.function.Function;

/**
 * Looks keys up in state tables. The tables stay as they are: no page counts as changed, and
 * nothing that a snapshot holds is copied. Used by one thread.
 */
@PublicEvolving
public final class StateLookup {
  /** The number of a row that does not exist. */
  public static final long NO_ROW = -1;

  private final DeviceStream stream;
  private final MemoryResource memory;

  /**
   * @param stream of the tables
   * @param memory of results
   */
  public StateLookup(DeviceStream stream, MemoryResource memory) {
    this.stream = stream;
    this.memory = memory;
  }

  /**
   * The numbers of the rows of keys, whether they have expired or not: makes one attempt. Enqueued.
   *
   * @param table stays the caller's
   * @param batch of the table's {@link StateSchema#input}; stays the caller's
   * @param type of the numbers: INT64; or INT32, for a table with at most 2^31 rows
   * @return for each row of the batch the number of its key's row, or {@link #NO_ROW}; without
   *     nulls. The caller closes the column
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public Column rows(StateTable table, Table batch, DataType type) {
    return rows(table.schema(), scope -> access(table, scope), batch, type);
  }

  /**
   * As {@link #rows(StateTable, Table, DataType)}, of a table that {@code access} gives: null if it
   * has no rows.
   */
  Column rows(
      StateSchema schema, Function<AccessScope, StateAccess> access, Table batch, DataType type) {
    int count = batch.rowCount();
    int width = type.id().byteWidth();
    Buffer numbers = Buffer.allocate((long) count * width, stream, memory);
    try (AccessScope scope = AccessScope.on(stream)) {
      if (count > 0) {
        List<KeyWord> key = StateTable.keyWords(schema, batch, scope);
        Keys keys = new Keys(schema, access.apply(scope), key, schema.hasNullWord(), count, stream);
        LookupKernels.KERNELS
            .of(stream.device())
            .find(keys, numbers.access(AccessMode.WRITE, scope), width);
      }
    } catch (RuntimeException | Error e) {
      numbers.close();
      throw e;
    }
    return new Column(type, count, 0, numbers, null, List.of());
  }

  private static StateAccess access(StateTable table, AccessScope scope) {
    return table.rowCount() == 0 ? null : table.access(AccessMode.READ, scope);
  }

  /**
   * The values of the keys of another table: makes one attempt. Waits for the work if there are
   * strings.
   *
   * @param table stays the caller's
   * @param keys another table, whose key columns have the same types and may be null likewise;
   *     stays the caller's
   * @param time rows that have expired then do not count; null if rows do not expire
   * @return for each row of {@code keys}, in their order, the columns of the table's {@link
   *     StateSchema#changes}: the key, the values of the accumulators, which are unspecified for a
   *     key without a row, as if nothing was accumulated, and a kind. The caller closes the table
   * @throws IllegalArgumentException if the rows expire and there is no time, or the other way
   *     round; or if {@code keys} has other key columns
   * @throws GpuOutOfMemoryException if there is too little memory, or a column of the result would
   *     have more than 2 Gi bytes
   */
  public Table values(StateTable table, StateTable keys, UpdateTime time) {
    StateSchema schema = table.schema();
    schema.checkTime(time);
    if (!keys.schema().keySchema().equals(schema.keySchema())) {
      throw new IllegalArgumentException(
          "expected the keys " + schema.keySchema() + ", got " + keys.schema().keySchema());
    }
    long count = keys.rowCount();
    if (count == 0) {
      return StateValues.ofNoRows(schema, stream, memory);
    }
    Expiry expiry = time == null ? Expiry.NEVER : schema.expiryBefore(time.oldest());
    try (Buffer copies = Buffer.allocate(count * schema.rowBytes(), stream, memory);
        ChunkTable chunks = new ChunkTable(stream, memory);
        AccessScope scope = AccessScope.on(stream)) {
      StateAccess from = keys.access(AccessMode.READ, scope);
      StateAccess found = access(table, scope);
      long address = copies.access(AccessMode.WRITE, scope);
      copy(schema, found, from, keys.chunkRows(), expiry, address);
      StateAccess.Strings strings =
          new StateAccess.Strings(from.keyStrings(), found == null ? 0 : found.valueStrings());
      long chunkTable = chunks.access(new long[] {address}, scope);
      StateAccess rows = StateAccess.ofCopies(schema, count, address, chunkTable, strings);
      return StateValues.of(rows, scope, stream, memory);
    }
  }

  // Each chunk of keys lies apart.
  private void copy(
      StateSchema schema,
      StateAccess table,
      StateAccess keys,
      int chunkRows,
      Expiry expiry,
      long target) {
    for (long row = 0; row < keys.rowCount(); row += chunkRows) {
      int rows = (int) Math.min(chunkRows, keys.rowCount() - row);
      long source = keys.rowAddress(row);
      List<KeyWord> key = KeyWord.ofRows(keys.schema(), source, keys.keyStrings());
      Keys chunk = new Keys(schema, table, key, false, rows, stream);
      LookupKernels.KERNELS
          .of(stream.device())
          .copy(
              new Copies(
                  chunk,
                  source,
                  keys.schema().rowWords(),
                  expiry,
                  target + row * schema.rowBytes()));
    }
  }
}
