// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateTables;
import io.millrace.state.StateTable;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.util.IOUtils;

/**
 * Keeps the number of rows of each key and value of an argument of MIN and MAX, where rows may be
 * taken back. Adds a row to each batch for each key whose smallest or largest value changed, with
 * both of them. Which these are is derived of the state, and not part of a checkpoint.
 */
@Internal
public final class ExtremesOperator extends ArgumentOperator {
  private static final long serialVersionUID = 1L;

  private transient Extremes extremes;

  ExtremesOperator(
      StreamOperatorParameters<ColumnBatch> parameters, GroupAggregatePlan plan, int position) {
    super(parameters, plan, position);
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    extremes = new Extremes((ExtremesStep) step(), deviceContext());
    StateTable restored = state().all().get(StateTables.ONLY);
    if (restored != null) {
      extremes.addAll(restored);
    }
  }

  // Each of these attempts may be repeated, as the state of the values stays as it is.
  @Override
  void addRows(Table changes, List<Table> tables) {
    StateTable values = state().forUpdate(StateTables.ONLY);
    try (changes) {
      deviceContext()
          .retry()
          .withSplitAndRetry(
              changes, part -> extremes.find(values, part), found -> addRowsOf(found, tables));
    }
  }

  private void addRowsOf(Table found, List<Table> tables) {
    DeviceContext context = deviceContext();
    ExtremesStep step = (ExtremesStep) step();
    try (found) {
      extremes.update(
          found,
          changes ->
              context
                  .retry()
                  .withSplitAndRetry(
                      changes,
                      part -> step.addedRows().apply(part, context.stream(), context.resource()),
                      tables::add));
    }
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(extremes, super::close);
  }
}
