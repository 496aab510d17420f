// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import java.util.ArrayList;
import java.util.List;

/**
 * The rows that an update reads, as addresses on the device.
 *
 * @param rowKinds address of the kinds of the rows; 0 if all are inserted
 * @param kinds address of the kinds of the rows of the result; 0 if there is no result
 * @param sums the columns of the result with sums of decimals
 */
record StateInput(
    List<KeyWord> key,
    boolean hasNullWord,
    List<AccumulatorValue> values,
    long rowKinds,
    long kinds,
    List<SumColumn> sums) {

  /**
   * A column of sums that may have more digits than its type.
   *
   * @param sums address of two words for each row, the lower one first
   * @param tops address of the word above them, for each row; 0 if the sums have two words
   * @param mask address of the column's mask, to be written
   */
  record SumColumn(long sums, long tops, long mask) {}

  /** Rows of another state table, one behind the other; no results are written. */
  static StateInput ofRows(StateSchema schema, long address) {
    int stride = schema.rowBytes();
    List<KeyWord> key = new ArrayList<>();
    for (int i = 0; i < schema.firstAccumulator(); i++) {
      long data = address + (long) i * Long.BYTES;
      key.add(new KeyWord(data, 0, 0, 0, 0, stride, Long.BYTES, KeyWord.BITS, KeyWord.NO_NULL_BIT));
    }
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
                word == 0 ? accumulator.operation(schema.input()) : AccumulatorValue.CARRY,
                AccumulatorValue.INT64));
      }
    }
    // The null word is a word like the others here.
    return new StateInput(key, false, values, 0, 0, List.of());
  }
}
