// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.memory.FirstFailure;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;

/**
 * The different values of an argument of DISTINCT.
 *
 * @param state the number of rows of each key and value, and of those that each filter keeps
 * @param counts numbers of {@code state}: where one begins or ends, a value came or went; empty if
 *     there are no filters, so that the kinds of the changes tell
 * @param addedRows make rows for the aggregates of the values that came or went: each of the
 *     changes of {@code state}, or with {@code counts} of {@link #pairs}
 */
@Internal
public record DistinctStep(
    ArgumentName name, StateSchema state, List<String> counts, List<Calc> addedRows)
    implements ValuesStep {
  private static final String BEFORE = "$before ";

  /** The name of a count before an update, in {@link #pairs}. */
  static String before(String count) {
    return BEFORE + count;
  }

  /**
   * A row for each changed key of a state: the columns of the changes after the update, and the
   * counts before it.
   */
  static Schema pairs(StateSchema state, List<String> counts) {
    List<Field> fields = new ArrayList<>(state.changes().fields());
    for (String count : counts) {
      fields.add(new Field(before(count), DataType.INT64, false));
    }
    return new Schema(fields);
  }

  @Override
  public void close() {
    FirstFailure failure = new FirstFailure();
    addedRows.forEach(calc -> failure.run(calc::close));
    failure.rethrow();
  }
}
