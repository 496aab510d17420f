// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.annotation.Internal;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.AccessScope;
import io.millrace.memory.MemoryResource;
import io.millrace.state.row.Accumulator;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.LongStrings;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;

/**
 * The rows that an update reads, as addresses on the device.
 *
 * @param rowKinds address of the kinds of the rows; 0 if all are inserted
 * @param kinds address of the kinds of the rows of the result; 0 if there is no result
 * @param sums the columns of the result with sums of decimals
 * @param expiry which rows of the state count as new
 */
@Internal
public record StateInput(
    List<KeyWord> key,
    boolean hasNullWord,
    List<AccumulatorValue> values,
    long rowKinds,
    long kinds,
    List<SumColumn> sums,
    Expiry expiry) {

  /**
   * A column of sums that may have more digits than its type.
   *
   * @param sums address of two words for each row, the lower one first
   * @param tops address of the word above them, for each row; 0 if the sums have two words
   * @param mask address of the column's mask, to be written
   */
  public record SumColumn(long sums, long tops, long mask) {}

  /**
   * The words of the keys of a batch, valid as long as the batch and the scope are.
   *
   * @param batch of the schema's input; stays the caller's
   * @throws GpuOutOfMemoryException if there is too little memory
   */
  public static List<KeyWord> keyWords(
      StateSchema schema, Table batch, MemoryResource memory, AccessScope scope) {
    try (Table noRows = batch.slice(0, 0);
        StateChanges none =
            new StateChanges(schema, schema.changes(), noRows, scope.stream(), memory)) {
      return none.input(batch, null, scope).key();
    }
  }

  /** The same rows, of which no results are written. */
  StateInput withoutResult() {
    return new StateInput(key, hasNullWord, values, rowKinds, 0, List.of(), expiry);
  }

  /**
   * Rows of another state table, one behind the other; no results are written.
   *
   * @param strings address of an INT64 for each chunk of their {@link LongStrings}, its address
   * @param expiry which rows of the state they replace
   */
  static StateInput ofRows(StateSchema schema, long address, long strings, Expiry expiry) {
    int stride = schema.rowBytes();
    List<KeyWord> key = KeyWord.ofRows(schema, address, strings);
    List<AccumulatorValue> values = new ArrayList<>();
    for (Accumulator accumulator : schema.accumulators()) {
      for (int word = 0; word < accumulator.words(schema.input()); word++) {
        long data = address + (long) (key.size() + values.size()) * Long.BYTES;
        values.add(
            new AccumulatorValue(
                data,
                0,
                0,
                0,
                stride,
                AccumulatorValue.STATE,
                accumulator.operation(schema.input(), word),
                AccumulatorValue.INT64));
      }
    }
    // The null word is a word like the others here.
    return new StateInput(key, false, values, 0, 0, List.of(), expiry);
  }
}
