// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.state.row.StateSchema;
import org.apache.flink.annotation.Internal;

/** The values of an argument, kept in front of the aggregates. */
@Internal
public sealed interface ValuesStep extends ArgumentStep permits DistinctStep, ExtremesStep {
  /** The number of rows of each key and value. */
  StateSchema state();
}
