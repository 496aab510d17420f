// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import java.util.ArrayList;
import java.util.List;

/**
 * The rows that an update reads, as addresses on the device.
 *
 * @param rowKinds address of the kinds of the rows; 0 if all are inserted
 * @param kinds address of the kinds of the rows of the result; 0 if there is no result
 */
record StateInput(
    List<KeyWord> key,
    boolean hasNullWord,
    List<AccumulatorValue> values,
    long rowKinds,
    long kinds) {

  /** Rows of another state table, one behind the other; no results are written. */
  static StateInput ofRows(StateSchema schema, long address) {
    int stride = schema.rowBytes();
    List<KeyWord> key = new ArrayList<>();
    for (int i = 0; i < schema.firstAccumulator(); i++) {
      long data = address + (long) i * Long.BYTES;
      key.add(new KeyWord(data, 0, 0, 0, 0, stride, Long.BYTES, KeyWord.BITS, KeyWord.NO_NULL_BIT));
    }
    List<AccumulatorValue> values = new ArrayList<>();
    int word = 0;
    for (Accumulator accumulator : schema.accumulators()) {
      values.add(
          new AccumulatorValue(
              address + (long) (key.size() + word) * Long.BYTES,
              0,
              0,
              0,
              0,
              stride,
              AccumulatorValue.STATE,
              accumulator.operation(schema.input()),
              AccumulatorValue.INT64));
      word += accumulator.words(schema.input());
    }
    // The null word is a word like the others here.
    return new StateInput(key, false, values, 0, 0);
  }
}
