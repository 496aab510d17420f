// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.calc.Calc;
import io.millrace.state.row.StateSchema;
import org.apache.flink.annotation.Internal;

/**
 * The different values of an argument of DISTINCT.
 *
 * @param state the number of rows of each key and value
 * @param addedRows makes rows for the aggregates of the values that came or went, of the changes of
 *     {@code state}
 */
@Internal
public record DistinctStep(ArgumentName name, StateSchema state, Calc addedRows)
    implements ValuesStep {
  @Override
  public void close() {
    addedRows.close();
  }
}
