// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.calc.Calc;
import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.process.ProcessPlan.Steps;
import io.millrace.operators.process.TimerSlices.Due;
import io.millrace.operators.state.KeyedStateOperator;
import io.millrace.operators.state.StateTables;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.transfer.Deadline;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.state.StateTable;
import io.millrace.state.lookup.StateLookup;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.apache.flink.annotation.Internal;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.TimeDomain;
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
  private transient HostTransfer transfer;
  private transient HostNumbers numbers;
  private transient KeyedEntries entries;
  // Only of a function with timers.
  private transient TimerSlices timers;
  // null before the first timer of processing time.
  private transient Deadline nextTimer;
  private transient long nextTimerTime;

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
   * @param entries rows that the states of maps and lists are updated with, by name
   */
  private record Outcome(
      Table output, Table updates, TimerChanges timers, Map<String, Table> entries)
      implements AutoCloseable {
    @Override
    public void close() {
      FirstFailure failure = new FirstFailure();
      Stream.of(output, updates)
          .filter(Objects::nonNull)
          .forEach(table -> failure.run(table::close));
      failure.run(timers::close);
      entries.values().forEach(table -> failure.run(table::close));
      failure.rethrow();
    }
  }

  /** Calls the function. */
  private interface Call {
    KeyedResult apply(KeyedBatch batch) throws Exception;
  }

  @Override
  protected StateSchema stateSchema() {
    return steps.state();
  }

  @Override
  protected Map<String, StateSchema> furtherStateSchemas() {
    Map<String, StateSchema> schemas = new LinkedHashMap<>();
    steps.maps().forEach((name, map) -> schemas.put(name, map.state()));
    return schemas;
  }

  /** Without the time of timers. */
  @Override
  protected int exchangeKeys() {
    return plan.keys().size();
  }

  @Override
  protected StateTtl stateTtl() {
    return plan.stateTtl();
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    steps = plan.steps();
    super.initializeState(context);
    DeviceContext device = deviceContext();
    lookup = new StateLookup(device.stream(), device.resource());
    watermark = Long.MIN_VALUE;
    transfer = new HostTransfer(device);
    numbers = new HostNumbers(transfer);
    entries =
        new KeyedEntries(
            plan.entries(), steps.maps(), this::state, device, transfer, plan.entryLimits());
    if (plan.hasTimers()) {
      timers = new TimerSlices(plan.timerSlices(), steps, state(), device, numbers);
    }
  }

  @Override
  public void open() throws Exception {
    super.open();
    function.open(plan.input(), deviceContext(), getRuntimeContext());
    awaitTimers();
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    if (batch.table().rowCount() > 0) {
      beginBatch(batch);
      run(batch.table(), steps.keys(), function::process, element);
      awaitTimers();
    }
  }

  /** Calls the function for the timers that are due at {@code mark}. */
  @Override
  protected void beforeWatermark(Watermark mark) {
    watermark = Math.max(watermark, mark.getTimestamp());
    fire(TimeDomain.EVENT_TIME, watermark);
    awaitTimers();
  }

  private void onProcessingTime() {
    nextTimer.clear();
    fire(TimeDomain.PROCESSING_TIME, getProcessingTimeService().getCurrentProcessingTime());
    awaitTimers();
  }

  private void awaitTimers() {
    if (timers != null) {
      timers.nextTime(TimeDomain.PROCESSING_TIME).ifPresent(this::awaitTimers);
    }
  }

  // A deadline does not become earlier.
  private void awaitTimers(long time) {
    if (nextTimer == null || !nextTimer.isSet() || time < nextTimerTime) {
      if (nextTimer != null) {
        nextTimer.close();
      }
      nextTimer = new Deadline(getProcessingTimeService(), this::onProcessingTime);
      nextTimer.set(getProcessingTimeService().getCurrentProcessingTime(), time);
      nextTimerTime = time;
    }
  }

  // Timers that the function sets meanwhile are due too.
  private void fire(TimeDomain domain, long now) {
    if (timers == null) {
      return;
    }
    readClock();
    try {
      for (OptionalLong slice = timers.nextSlice(domain, now);
          slice.isPresent();
          slice = timers.nextSlice(domain, now)) {
        fire(domain, timers.takeDue(slice.getAsLong(), now));
        deviceContext().checkNotCanceled();
      }
    } finally {
      timers.release();
    }
  }

  private void fire(TimeDomain domain, Due due) {
    if (due == null) {
      return;
    }
    try (Table all = due.timers()) {
      StreamRecord<ColumnBatch> element = new StreamRecord<>(null);
      if (domain == TimeDomain.EVENT_TIME) {
        element.setTimestamp(due.lastTime());
      }
      run(all, steps.timers().keys(), batch -> function.onTimer(batch, domain), element);
    }
  }

  private void run(Table rows, Calc keyColumns, Call call, StreamRecord<ColumnBatch> element) {
    deviceContext()
        .retry()
        .withSplitAndRetry(
            rows, part -> attempt(part, keyColumns, call), outcome -> finish(outcome, element));
  }

  private Outcome attempt(Table rows, Calc keyCalc, Call call) {
    DeviceContext context = deviceContext();
    try (StateTable groups = new StateTable(steps.groups(), context.stream(), context.resource());
        Table keyColumns = keyCalc.apply(rows, context.stream(), context.resource())) {
      groups.accumulate(keyColumns);
      try (Column keyNumbers = lookup.rows(groups, keyColumns, DataType.INT32);
          Table found = lookup.values(state().forUpdate(StateTables.ONLY), groups, updateTime());
          Table values = steps.values().apply(found, context.stream(), context.resource());
          Table keys = values.select(plan.keys());
          Table state = values.select(plan.stateColumns().names());
          KeyedResult result = call(call, rows, keyNumbers, keys, state, groups)) {
        checkResult(result, keys.rowCount());
        return outcome(result, keys);
      }
    }
  }

  private KeyedResult call(
      Call call, Table rows, Column keyNumbers, Table keys, Table state, StateTable groups) {
    EntryReader reader = entries.reader(keys, groups, updateTime());
    long time = getProcessingTimeService().getCurrentProcessingTime();
    try {
      return call.apply(
          new KeyedBatch(rows, keyNumbers, keys, state, reader, watermark, time, deviceContext()));
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
    if (result.timers() != null) {
      checkSchema("timers", KeyedResult.TIMERS, result.timers().schema());
      if (timers == null) {
        throw new IllegalStateException(
            "expected timerSlices of a function that sets timers, got none of " + function);
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
    Map<String, Table> entryUpdates = entries.updates(result.entries(), keys, updateTime());
    Table updates = null;
    try {
      updates = result.state() == null ? null : updates(keys, result.state());
      TimerChanges changes =
          result.timers() == null
              ? TimerChanges.NONE
              : TimerChanges.of(
                  result.timers(), keys, plan, steps.timers(), timers, numbers, deviceContext());
      Table output = result.output() == null ? null : result.output().share();
      return new Outcome(output, updates, changes, entryUpdates);
    } catch (RuntimeException | Error e) {
      FirstFailure failure = new FirstFailure();
      failure.add(e);
      failure.run(new Outcome(null, updates, TimerChanges.NONE, entryUpdates)::close);
      throw e;
    }
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
    Table emitted;
    try (outcome) {
      if (outcome.updates() != null) {
        update(outcome.updates(), Table::close);
      }
      outcome.entries().forEach((name, rows) -> update(name, rows, Table::close));
      outcome.entries().keySet().forEach(entries::compact);
      outcome.timers().updates().forEach((slice, rows) -> timers.update(slice, rows.share()));
      outcome.timers().earliest().forEach((slice, time) -> timers.add(slice, time));
      boolean hasRows = outcome.output() != null && outcome.output().rowCount() > 0;
      emitted = hasRows ? outcome.output().share() : null;
    }
    // What the state was updated with is given up before operators behind this run.
    if (emitted != null) {
      ColumnBatch.emit(element.copy(nextBatch(emitted)), output);
    }
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(nextTimer, function::close, transfer, steps, super::close);
  }
}
