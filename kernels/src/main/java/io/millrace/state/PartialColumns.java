// SPDX-License-Identifier: Apache-2.0
package io.millrace.state;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.memory.Buffer;
import io.millrace.state.StateInput.SumColumn;
import io.millrace.state.row.AccumulatorValue;
import io.millrace.state.row.ResultLayout;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;

/** The words of accumulators as columns, as they are in state rows: what other tables combine. */
final class PartialColumns implements ResultColumns {
  private final List<Long> places = new ArrayList<>();

  /**
   * @param schema without a time
   * @param rows of the result
   * @param layout takes the columns
   */
  PartialColumns(StateSchema schema, int rows, ResultLayout layout) {
    int words = schema.wordSchema().size();
    for (int i = 0; i < words; i++) {
      places.add(layout.add((long) rows * Long.BYTES));
    }
  }

  @Override
  public List<AccumulatorValue> results(long output) {
    return places.stream().map(place -> AccumulatorValue.wordTo(output + place)).toList();
  }

  @Override
  public List<SumColumn> sums(long output) {
    return List.of();
  }

  @Override
  public Column column(int position, Buffer buffer, int rows) {
    Buffer data = buffer.slice(places.get(position), (long) rows * Long.BYTES);
    return new Column(DataType.INT64, rows, 0, data, null, List.of());
  }
}
