// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Column;
import io.millrace.memory.Buffer;
import io.millrace.state.StateInput.SumColumn;
import io.millrace.state.row.AccumulatorValue;
import java.util.List;

/** What the accumulators of state rows are written to: columns in the buffer of a result. */
interface ResultColumns {

  /**
   * The words of the accumulators, of which only what is about the result counts.
   *
   * @param output address of the buffer of the result
   */
  List<AccumulatorValue> results(long output);

  /** The columns whose masks are to be written. */
  List<SumColumn> sums(long output);

  /** The first rows of a column over slices of the buffer; the caller closes it. */
  Column column(int position, Buffer buffer, int rows);
}
