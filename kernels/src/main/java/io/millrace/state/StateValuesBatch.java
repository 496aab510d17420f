// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.device.DeviceStream;
import io.millrace.state.StateInput.SumColumn;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.ChangeKind;
import io.millrace.state.row.KeyWord;
import java.util.List;

/**
 * Rows of a state table and the columns that they are written to, as addresses on the device that
 * are valid until the work on {@code stream} is done. See {@link StateBatch}.
 *
 * @param firstRow of the state table
 * @param rows at least 1
 * @param key where the words of the key go; its inputs do not count
 * @param values where the words of the accumulators go; likewise
 * @param sums the columns of these with sums of decimals, whose masks are written behind the rows
 * @param rowCount position of the word that counts rows; -1 if none does
 * @param kinds address of a byte for each row, its {@link ChangeKind}
 * @param constants where constants go
 */
record StateValuesBatch(
    long firstRow,
    int rows,
    List<KeyWord> key,
    boolean hasNullWord,
    List<AccumulatorValue> values,
    List<SumColumn> sums,
    long kinds,
    List<Constant> constants,
    int rowWords,
    int rowCount,
    long chunkTable,
    int chunkShift,
    DeviceStream stream) {

  /** The number of constants at most. */
  static final int MAX_CONSTANTS = 4;

  /** A column with one value in all rows. */
  record Constant(long output, long value) {}

  /** Writes state rows as columns, on the host or by the kernel of state_values.cu. */
  interface Kernels {

    /** Writes the rows, without strings. Enqueued. Allocates nothing. */
    void write(StateValuesBatch batch);
  }
}
