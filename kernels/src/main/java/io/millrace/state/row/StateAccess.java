// SPDX-License-Identifier: Apache-2.0
package io.millrace.state.row;

import io.millrace.annotation.Internal;
import java.nio.LongBuffer;

/**
 * The rows and the index of a state table, as addresses on the device that are valid until the
 * access scope ends.
 *
 * @param rowCount at least 1
 * @param chunks the address of each chunk of rows
 * @param chunkTable the address of an INT64 for each chunk: its address
 * @param index a word for each slot: 0, or the hash of a key in the high half, and its row plus 1
 * @param indexSlots as {@link HostKeys#indexSlots} gives
 * @param keyStrings the address of an INT64 for each chunk of the keys' {@link LongStrings}: its
 *     address; 0 if keys have no strings
 * @param valueStrings likewise, of values
 * @param pageEpochs the address of an INT64 for each page of rows: the epoch of the last write to
 *     it
 * @param epoch of writes
 */
@Internal
public record StateAccess(
    StateSchema schema,
    long rowCount,
    LongBuffer chunks,
    long chunkTable,
    int chunkShift,
    long index,
    long indexSlots,
    long keyStrings,
    long valueStrings,
    long pageEpochs,
    long epoch) {
  private static final int COPIES_SHIFT = 31;

  /**
   * Copies of rows, one behind the other, without an index.
   *
   * @param address of the copies
   * @param chunkTable the address of an INT64 with this address
   * @param strings the table that has the strings of the rows; its rows do not count
   */
  public static StateAccess ofCopies(
      StateSchema schema, long rowCount, long address, long chunkTable, Strings strings) {
    return new StateAccess(
        schema,
        rowCount,
        LongBuffer.wrap(new long[] {address}),
        chunkTable,
        COPIES_SHIFT,
        0,
        0,
        strings.keys,
        strings.values,
        0,
        0);
  }

  /**
   * Where long strings lie.
   *
   * @param keys as {@code keyStrings}, likewise {@code values}
   */
  public record Strings(long keys, long values) {}

  /** The address of a row; further rows of its chunk lie behind it. */
  public long rowAddress(long row) {
    long inChunk = row & ((1L << chunkShift) - 1);
    return chunks.get((int) (row >> chunkShift)) + inChunk * schema.rowBytes();
  }
}
