// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

/**
 * Keeps the different values of an argument of DISTINCT for each key. Adds rows to each batch for
 * the values that came and went.
 */
@Internal
public final class DistinctOperator extends ArgumentOperator {
  private static final long serialVersionUID = 1L;

  DistinctOperator(
      StreamOperatorParameters<ColumnBatch> parameters, GroupAggregatePlan plan, int position) {
    super(parameters, plan, position);
  }

  @Override
  void addRows(Table changes, List<Table> tables) {
    DeviceContext context = deviceContext();
    DistinctStep step = (DistinctStep) step();
    try (changes) {
      context
          .retry()
          .withSplitAndRetry(
              changes,
              part -> step.addedRows().apply(part, context.stream(), context.resource()),
              tables::add);
    }
  }
}
