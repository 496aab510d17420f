// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.process.ProcessPlan.Steps;
import io.millrace.operators.state.KeyedStateOperator;
import io.millrace.operators.state.StateTables;
import io.millrace.state.StateTable;
import io.millrace.state.lookup.StateLookup;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.Internal;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.IOUtils;

/**
 * Runs a {@link KeyedBatchFunction}: hands each batch to it with the state of its keys, puts the
 * new state in the place of the one before, and emits its rows with the timestamp of the batch.
 *
 * <p>A batch that does not fit the device is processed in parts, each as if it were a batch. An
 * attempt ends before the state changes.
 */
@Internal
public final class ProcessOperator extends KeyedStateOperator {
  private static final long serialVersionUID = 1L;

  private final ProcessPlan plan;
  private final KeyedBatchFunction function;
  private transient Steps steps;
  private transient StateLookup lookup;
  private transient long watermark;

  private ProcessOperator(StreamOperatorParameters<ColumnBatch> parameters, ProcessPlan plan) {
    super(parameters);
    this.plan = plan;
    this.function = plan.function();
  }

  /** A factory of operators behind an exchange by the keys of {@code plan}. */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(ProcessPlan plan) {
    return new OperatorFactory<>(
        ProcessOperator.class, parameters -> new ProcessOperator(parameters, plan));
  }

  /**
   * What an attempt gives.
   *
   * @param output rows of the result; null if there are none
   * @param updates rows that the state is updated with, one for each key; null if nothing changes
   */
  private record Outcome(Table output, Table updates) implements AutoCloseable {
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      if (output != null) {
        failure.run(output::close);
      }
      if (updates != null) {
        failure.run(updates::close);
      }
      failure.rethrow();
    }
  }

  @Override
  protected StateSchema stateSchema() {
    return steps.state();
  }

  @Override
  protected long stateTtl() {
    return plan.stateTtl().toMillis();
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    steps = plan.steps();
    super.initializeState(context);
    lookup = new StateLookup(deviceContext().stream(), deviceContext().resource());
    watermark = Long.MIN_VALUE;
  }

  @Override
  public void open() throws Exception {
    super.open();
    function.open(deviceContext(), getRuntimeContext());
  }

  @Override
  public void processWatermark(Watermark mark) throws Exception {
    watermark = Math.max(watermark, mark.getTimestamp());
    super.processWatermark(mark);
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    if (batch.table().rowCount() > 0) {
      deviceContext()
          .retry()
          .withSplitAndRetry(batch.table(), this::process, outcome -> finish(outcome, element));
    }
  }

  private Outcome process(Table rows) {
    DeviceContext context = deviceContext();
    try (StateTable groups = new StateTable(steps.groups(), context.stream(), context.resource());
        Table keyColumns = steps.keys().apply(rows, context.stream(), context.resource())) {
      groups.accumulate(keyColumns);
      try (Column numbers = lookup.rows(groups, keyColumns, DataType.INT32);
          Table found = lookup.values(state().forUpdate(StateTables.ONLY), groups, updateTime());
          Table values = steps.values().apply(found, context.stream(), context.resource());
          Table keys = values.select(plan.keys());
          Table state = values.select(plan.stateColumns().names());
          KeyedResult result = call(rows, numbers, keys, state)) {
        checkResult(result, keys.rowCount());
        return outcome(result, keys);
      }
    }
  }

  private KeyedResult call(Table rows, Column numbers, Table keys, Table state) {
    long time = getProcessingTimeService().getCurrentProcessingTime();
    try {
      return function.process(
          new KeyedBatch(rows, numbers, keys, state, watermark, time, deviceContext()));
    } catch (Exception e) {
      ExceptionUtils.rethrow(e);
      throw new AssertionError(e);
    }
  }

  private void checkResult(KeyedResult result, int keys) {
    if (result.output() != null) {
      checkSchema("output", plan.outputSchema(), result.output().schema());
    }
    if (result.state() != null) {
      checkSchema("state", plan.stateColumns(), result.state().schema());
      if (result.state().rowCount() != keys) {
        throw new IllegalStateException(
            "expected a row of state for each of the "
                + keys
                + " keys, got "
                + result.state().rowCount()
                + " rows from "
                + function);
      }
    }
  }

  private void checkSchema(String what, Schema expected, Schema actual) {
    if (!expected.equals(actual)) {
      throw new IllegalStateException(
          "expected "
              + what
              + " with the columns "
              + expected
              + ", got "
              + actual
              + " from "
              + function);
    }
  }

  private Outcome outcome(KeyedResult result, Table keys) {
    Table updates = result.state() == null ? null : updates(keys, result.state());
    return new Outcome(result.output() == null ? null : result.output().share(), updates);
  }

  private Table updates(Table keys, Table state) {
    List<Column> columns = new ArrayList<>();
    keys.columns().forEach(column -> columns.add(column.share()));
    state.columns().forEach(column -> columns.add(column.share()));
    DeviceContext context = deviceContext();
    try (Table all = new Table(plan.keysAndState(), columns, keys.rowCount())) {
      return steps.updates().apply(all, context.stream(), context.resource());
    }
  }

  private void finish(Outcome outcome, StreamRecord<ColumnBatch> element) {
    try (outcome) {
      if (outcome.updates() != null) {
        update(outcome.updates(), Table::close);
      }
      Table output = outcome.output();
      if (output != null && output.rowCount() > 0) {
        ColumnBatch.emit(element.copy(new ColumnBatch(output.share())), this.output);
      }
    }
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(function::close, steps, super::close);
  }
}
