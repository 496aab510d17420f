// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.state.row.Accumulator;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.KeyWord;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.WideValue;
import io.millrace.state.string.TableStrings.Chunks;
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
record StateInput(
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
  record SumColumn(long sums, long tops, long mask) {}

  /** The same rows, of which no results are written. */
  StateInput withoutResult() {
    return new StateInput(key, hasNullWord, values, rowKinds, 0, List.of(), expiry);
  }

  /**
   * Rows of another state table, one behind the other; no results are written.
   *
   * @param strings the chunks of their long strings
   * @param expiry which rows of the state they replace
   */
  static StateInput ofRows(StateSchema schema, long address, Chunks strings, Expiry expiry) {
    int stride = schema.rowBytes();
    List<KeyWord> key = KeyWord.ofRows(schema, address, strings.keys());
    List<AccumulatorValue> values = new ArrayList<>();
    for (Accumulator accumulator : schema.accumulators()) {
      for (int word = 0; word < accumulator.words(schema.input()); word++) {
        long data = address + (long) (key.size() + values.size()) * Long.BYTES;
        // The second word of a wide value tells how the first one is read.
        boolean isSecond = word == 1 && accumulator.isWide(schema.input());
        values.add(
            new AccumulatorValue(
                isSecond ? strings.values() : data,
                0,
                0,
                0,
                stride,
                isSecond
                    ? WideValue.kind(schema.input().type(accumulator.column()))
                    : AccumulatorValue.STATE,
                accumulator.operation(schema.input(), word),
                AccumulatorValue.INT64));
      }
    }
    // The null word is a word like the others here.
    return new StateInput(key, false, values, 0, 0, List.of(), expiry);
  }
}
