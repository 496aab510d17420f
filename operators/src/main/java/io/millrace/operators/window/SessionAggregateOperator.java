// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Column;
import io.millrace.column.Table;
import io.millrace.memory.FirstFailure;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.state.KeyedStateOperator;
import io.millrace.operators.transfer.ControlEvent;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.transfer.ProcessingTimeColumn;
import io.millrace.operators.window.SliceSplitter.TimedRows;
import io.millrace.operators.window.WindowAggregatePlan.Steps;
import io.millrace.state.row.StateSchema;
import io.millrace.state.session.SessionSchema;
import io.millrace.state.session.Sessions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.flink.annotation.Internal;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.OutputTag;

/**
 * Aggregates the sessions of each key. It emits the row of a session when the watermark reaches its
 * last millisecond, before it forwards the watermark; or, of processing time, when the clock has
 * passed it. Sessions come in the order of their last slices and, within a slice, in the order in
 * which their keys came to it; while batches have rows of many slices, in the order in which their
 * keys came to slices. The results of a session are those of Flink SQL's window aggregate over
 * {@code SESSION}.
 *
 * <p>A row is late by itself if a session of this row alone would have ended. Such rows count as
 * behind the other rows of their batch, or of its part if memory is short: they belong to an open
 * session that they touch, directly or by further rows of the batch. The others are late: they are
 * dropped, or go to a side output. The counter {@code numLateRecordsDropped} counts dropped rows.
 */
@Internal
public final class SessionAggregateOperator extends KeyedStateOperator {
  private static final long serialVersionUID = 1L;

  // Sessions of processing time fire so often at most.
  private static final int FIRINGS_PER_GAP = 1_000;

  private final WindowAggregatePlan plan;
  private final TimeWindow window;
  // null: late rows are dropped.
  private final OutputTag<ColumnBatch> lateTag;
  private transient Steps steps;
  private transient SessionTables sessions;
  // null: sessions are in the tables of slices only.
  private transient SessionBuffer buffer;
  private transient SliceSplitter splitter;
  private transient SessionResults results;
  private transient WindowProgress progress;
  private transient LateRows lateRows;
  // Of sessions of processing time.
  private transient FiringClock clock;
  private transient HostTransfer transfer;

  /**
   * @param lateTag the side output for late rows; null if they are dropped
   */
  SessionAggregateOperator(
      StreamOperatorParameters<ColumnBatch> parameters,
      WindowAggregatePlan plan,
      OutputTag<ColumnBatch> lateTag) {
    super(parameters);
    this.plan = plan;
    this.window = plan.window();
    this.lateTag = lateTag;
  }

  @Override
  protected StateSchema stateSchema() {
    return steps.aggregates().state();
  }

  /** The buffer's, also for sessions without a buffer, which refuse a checkpoint with its rows. */
  @Override
  protected Map<String, StateSchema> furtherStateSchemas() {
    return SliceBuffer.stateSchemas(stateSchema());
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    steps = plan.steps();
    super.initializeState(context);
    DeviceContext device = deviceContext();
    progress = new WindowProgress(context, keyGroups(), plan);
    boolean hasBufferState = !furtherStateSchemas().isEmpty();
    if (state().rowCount() > 0 || (hasBufferState && state(SliceBuffer.STATE).rowCount() > 0)) {
      progress.check();
    }
    sessions =
        new SessionTables(
            plan.window(),
            new Sessions(
                SessionSchema.of(stateSchema(), plan.timeArgument(), window.sliceWidth()),
                device.stream(),
                device.resource()),
            state(),
            device.retry(),
            progress.restoredWatermark());
    splitter = new SliceSplitter(plan, steps, device);
    results = new SessionResults(plan.outputSchema(), steps.results(), device, output);
    lateRows = new LateRows(lateTag, getMetricGroup(), output);
    transfer = new HostTransfer(device);
    if (hasBufferState && SessionBuffer.supports(plan, stateSchema())) {
      openBuffer(device);
    }
    clock =
        new FiringClock(
            getProcessingTimeService(), sessions.watermark(), this::fire, this::nextFiringTime);
  }

  private void openBuffer(DeviceContext device) {
    SliceBuffer rows =
        new SliceBuffer(window, state(SliceBuffer.STATE), state(), splitter, transfer, device);
    SessionSchema schema =
        SessionSchema.ofOneTable(rows.schema(), plan.timeArgument(), window.sliceWidth());
    buffer =
        new SessionBuffer(
            window,
            rows,
            new Sessions(schema, device.stream(), device.resource()),
            sessions,
            device.retry());
    buffer.flush();
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    progress.update(sessions.watermark());
  }

  @Override
  public void open() throws Exception {
    super.open();
    if (window.isProcessingTime()) {
      clock.awaitNextFiring();
    }
  }

  @Override
  protected void flush(ControlEvent event) {
    if (window.isProcessingTime()) {
      clock.flush(event);
    }
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    if (!window.isProcessingTime()) {
      splitter.forTimes(lateRows.table(batch), rows -> add(rows, element));
    } else if (batch.table().rowCount() > 0) {
      addNow(batch.table());
    }
  }

  // The rows of a batch belong to one slice, and none is late.
  private void addNow(Table input) {
    long now = Math.max(clock.now(), sessions.lastLateTime() + 1);
    deviceContext()
        .retry()
        .withSplitAndRetry(
            input,
            part -> argumentsAt(now, part),
            arguments -> {
              try (arguments) {
                sessions.add(window.sliceEnd(now), arguments, now);
              }
            });
    clock.awaitNextFiring();
  }

  private Table argumentsAt(long now, Table input) {
    DeviceContext context = deviceContext();
    try (Table rows = ProcessingTimeColumn.addTo(input, now, transfer, context)) {
      return steps.aggregates().arguments().apply(rows, context.stream(), context.resource());
    }
  }

  // Sessions may end at each millisecond, and each time the rows of a slice are looked at.
  private OptionalLong nextFiringTime() {
    long grid = 1 + window.sliceWidth() / FIRINGS_PER_GAP;
    return sessions.nextFiringTime().stream()
        .filter(end -> end <= Long.MAX_VALUE - grid)
        .map(end -> -Math.floorDiv(-end, grid) * grid)
        .findFirst();
  }

  private void add(TimedRows timed, StreamRecord<ColumnBatch> element) {
    long late = sessions.lastLateTime();
    if (timed.range().first() > late) {
      addInTime(timed);
    } else if (timed.range().last() <= late) {
      addLate(timed.rows(), element);
    } else {
      splitter.splitAt(
          timed, late + 1, lateRows.areKept(), this::addInTime, rows -> addLate(rows, element));
    }
  }

  private SliceRows rows(SlicedRows sliced, int number) {
    Table arguments = sliced.arguments().partition(number);
    Table input = sliced.input().orElse(sliced.arguments()).partition(number);
    return new SliceRows(input, arguments, arguments.column(plan.timeArgument()).share());
  }

  private void addInTime(TimedRows timed) {
    if (buffer != null && buffer.takes(timed.range())) {
      buffer.add(timed);
      return;
    }
    if (buffer != null) {
      buffer.flush();
    }
    splitter.forSlices(
        timed, (sliceEnd, arguments) -> sessions.add(sliceEnd, arguments, timed.range().first()));
  }

  private void addLate(SliceRows rows, StreamRecord<ColumnBatch> element) {
    List<SliceRows> left = new ArrayList<>(List.of(rows.share()));
    try {
      while (addTouching(left)) {
        deviceContext().checkNotCanceled();
      }
      left.forEach(late -> lateRows.add(late.input(), element));
    } finally {
      closeAll(left);
    }
  }

  // Adds the rows that touch a session, and leaves the others: whether these may touch one now.
  private boolean addTouching(List<SliceRows> left) {
    boolean[] isAdded = {false};
    List<SliceRows> untouched = new ArrayList<>();
    try {
      for (SliceRows rows : left) {
        deviceContext()
            .retry()
            .withSplitAndRetry(
                rows, this::touched, sliced -> isAdded[0] |= addTouching(sliced, untouched));
      }
    } catch (RuntimeException | Error e) {
      closeAll(untouched);
      throw e;
    }
    closeAll(left);
    left.clear();
    left.addAll(untouched);
    return isAdded[0] && !left.isEmpty();
  }

  private static void closeAll(List<SliceRows> rows) {
    FirstFailure failure = new FirstFailure();
    rows.forEach(part -> failure.run(part::close));
    failure.rethrow();
  }

  private SlicedRows touched(SliceRows rows) {
    DeviceContext context = deviceContext();
    try (Column numbers =
        isBuffered()
            ? buffer.touched(rows.arguments(), rows.times())
            : sessions.touched(rows.arguments(), rows.times())) {
      return SlicedRows.of(
          rows, numbers, 3, lateRows.areKept(), context.stream(), context.resource());
    }
  }

  private boolean addTouching(SlicedRows sliced, List<SliceRows> untouched) {
    try (sliced) {
      boolean isAdded = false;
      for (int slice = 1; slice <= 2; slice++) {
        if (sliced.arguments().rowCount(slice) > 0) {
          long sliceEnd = sessions.firstSliceEnd() + (slice - 1) * plan.window().sliceWidth();
          try (Table arguments = sliced.arguments().partition(slice)) {
            if (isBuffered()) {
              buffer.addLate(sliceEnd, arguments);
            } else {
              sessions.add(sliceEnd, arguments, Long.MAX_VALUE);
            }
          }
          isAdded = true;
        }
      }
      if (sliced.arguments().rowCount(0) > 0) {
        untouched.add(rows(sliced, 0));
      }
      return isAdded;
    }
  }

  /**
   * Fires the sessions of event time that {@code mark} ends, and forwards it behind their rows. It
   * is forwarded at once by sessions of processing time.
   */
  @Override
  public void processWatermark(Watermark mark) throws Exception {
    if (window.isProcessingTime()) {
      super.processWatermark(mark);
      return;
    }
    fire(mark.getTimestamp());
    super.processWatermark(new Watermark(sessions.watermark()));
  }

  // Fires the sessions that end by a watermark or a processing time.
  private void fire(long time) {
    if (time > sessions.watermark()) {
      if (buffer != null) {
        buffer.fire(
            sessions.lastEndedTime(time),
            ended -> results.emit(ended.rowCount(), rows -> buffer.values(ended, rows)));
      }
      sessions.fire(
          time,
          ended ->
              results.emit(
                  ended.rowCount(), rows -> ended.values(rows.first(), rows.count(), List.of())));
    }
  }

  /** Whether sessions are in the buffer, and not in the tables of slices. */
  boolean isBuffered() {
    return buffer != null && buffer.isActive();
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(clock, transfer, steps, super::close);
  }
}
