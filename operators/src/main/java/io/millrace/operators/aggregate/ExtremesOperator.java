// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.memory.spill.SpillException;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.StateTables;
import io.millrace.state.StateTable;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.util.IOUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the number of rows of each key and value of an argument of MIN and MAX, where rows may be
 * taken back. Adds a row to each batch for each key whose smallest or largest value changed, with
 * both of them. Which these are is derived of the state, and not part of a checkpoint.
 */
@Internal
public final class ExtremesOperator extends ArgumentOperator {
  private static final long serialVersionUID = 1L;

  private static final Logger LOG = LoggerFactory.getLogger(ExtremesOperator.class);

  private transient Extremes extremes;
  // The table of the state that the extremes were found in; null before the first row.
  private transient StateTable known;

  ExtremesOperator(
      StreamOperatorParameters<ColumnBatch> parameters, GroupAggregatePlan plan, int position) {
    super(parameters, plan, position);
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    extremes = new Extremes((ExtremesStep) step(), deviceContext());
    known = state().all().get(StateTables.ONLY);
    if (known != null) {
      extremes.findAll(known, updateTime());
    }
  }

  // Rows are removed by moving the others to a new table. Extremes of values of this batch would
  // count as known.
  @Override
  void beforeUpdate() {
    StateTable values = state().all().get(StateTables.ONLY);
    if (known != null && known != values) {
      try {
        extremes.findAll(values, updateTime());
      } catch (GpuOutOfMemoryException | SpillException e) {
        LOG.warn("the extremes of keys that were removed stay: too little memory", e);
      }
    }
    known = values;
  }

  // Each of these attempts may be repeated, as the state of the values stays as it is.
  @Override
  void addRows(Table changes, List<Table> tables) {
    StateTable values = state().forUpdate(StateTables.ONLY);
    try (changes) {
      deviceContext()
          .retry()
          .withSplitAndRetry(
              changes,
              part -> extremes.find(values, part, updateTime()),
              found -> addRowsOf(found, tables));
    }
  }

  private void addRowsOf(Table found, List<Table> tables) {
    DeviceContext context = deviceContext();
    ExtremesStep step = (ExtremesStep) step();
    try (found) {
      extremes.update(
          found,
          updateTime(),
          changes ->
              context
                  .retry()
                  .withSplitAndRetry(
                      changes,
                      part -> step.addedRows().apply(part, context.stream(), context.resource()),
                      tables::add));
    }
  }

  /** The number of keys whose extremes are known. */
  long keysWithExtremes() {
    return extremes.rowCount();
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(extremes, super::close);
  }
}
