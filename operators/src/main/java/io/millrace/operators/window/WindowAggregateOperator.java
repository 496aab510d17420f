// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.state.KeyedStateOperator;
import io.millrace.operators.transfer.ControlEvent;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.window.SliceSplitter.TimedRows;
import io.millrace.operators.window.WindowAggregatePlan.Steps;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.apache.flink.annotation.Internal;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.runtime.util.TimeWindowUtil;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.OutputTag;

/**
 * Aggregates the rows of each key and window. It emits the rows of a window of event time when the
 * watermark reaches its last millisecond, before it forwards the watermark; the rows of a window of
 * processing time when the clock has passed its last millisecond. Windows come in the order of
 * their ends, and the rows of a window in the order in which its slices and the keys in them came;
 * while batches have rows of many slices, the windows that end by a watermark come in one batch, in
 * the order in which the keys came to slices. Results are those of Flink SQL's window aggregate.
 *
 * <p>A row all of whose windows have fired, and whose allowed lateness has passed, is late: it is
 * dropped, or goes to a side output. The counter {@code numLateRecordsDropped} counts dropped rows.
 *
 * <p>With allowed lateness, the results are a changelog: rows of a window that has fired update its
 * results at once. A batch gives for each of its keys an insertion, or an update with the row
 * before directly before the row after, in the order in which the keys come in the batch; nothing
 * if no accumulator of the key changed.
 *
 * <p>With early firing, the results are a changelog too: at each interval, and before each
 * checkpoint, all windows emit what changed since.
 */
@Internal
public final class WindowAggregateOperator extends KeyedStateOperator {
  private static final long serialVersionUID = 1L;

  private final WindowAggregatePlan plan;
  private final TimeWindow window;
  // null: late rows are dropped.
  private final OutputTag<ColumnBatch> lateTag;
  private transient Steps steps;
  private transient SliceTables slices;
  private transient HostTransfer transfer;
  private transient WindowResults results;
  // null: none.
  private transient EarlyResults earlyResults;
  private transient WindowProgress progress;
  private transient RestoredWindows restoredWindows;
  // Of windows of processing time.
  private transient FiringClock clock;
  private transient LateRows lateRows;
  private transient SliceSplitter sliceSplitter;
  // null: rows are in the tables of slices only.
  private transient WindowBuffer buffer;

  /**
   * Makes the operators; a {@link SessionAggregateOperator} for sessions.
   *
   * @param lateRows the side output for late rows; null if they are dropped
   */
  public record Constructor(WindowAggregatePlan plan, OutputTag<ColumnBatch> lateRows)
      implements OperatorFactory.Constructor<ColumnBatch, ColumnBatch> {
    private static final long serialVersionUID = 1L;

    @Override
    public KeyedStateOperator construct(StreamOperatorParameters<ColumnBatch> parameters) {
      return plan.window().isSession()
          ? new SessionAggregateOperator(parameters, plan, lateRows)
          : new WindowAggregateOperator(parameters, plan, lateRows);
    }
  }

  private WindowAggregateOperator(
      StreamOperatorParameters<ColumnBatch> parameters,
      WindowAggregatePlan plan,
      OutputTag<ColumnBatch> lateRows) {
    super(parameters);
    this.plan = plan;
    this.window = plan.window();
    this.lateTag = lateRows;
  }

  /**
   * A factory of operators behind an exchange by the keys of {@code plan}.
   *
   * @param lateRows as in {@link Constructor}
   */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(
      WindowAggregatePlan plan, OutputTag<ColumnBatch> lateRows) {
    return new OperatorFactory<>(
        plan.window().isSession() ? SessionAggregateOperator.class : WindowAggregateOperator.class,
        new Constructor(plan, lateRows));
  }

  @Override
  protected StateSchema stateSchema() {
    StateSchema state = steps.aggregates().state();
    return plan.isEarly() ? state.ofSecondPhase() : state;
  }

  /** The buffer's, also for windows without a buffer, which refuse a checkpoint with its rows. */
  @Override
  protected Map<String, StateSchema> furtherStateSchemas() {
    return SliceBuffer.stateSchemas(stateSchema());
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    steps = plan.steps();
    progress = new WindowProgress(context, keyGroups(), plan);
    restoredWindows = new RestoredWindows();
    super.initializeState(context);
    if (!context.isRestored()) {
      openSlices(Long.MIN_VALUE);
    }
    results = new WindowResults(plan, steps.results(), transfer, deviceContext(), output);
    if (plan.isEarly()) {
      earlyResults =
          new EarlyResults(
              plan,
              steps.aggregates().state(),
              slices,
              deviceContext(),
              getProcessingTimeService(),
              results::emitChanges);
    }
    clock =
        new FiringClock(
            getProcessingTimeService(), slices.watermark(), this::fireAt, this::nextFiringTime);
    lateRows = new LateRows(lateTag, getMetricGroup(), output);
  }

  private void openSlices(long watermark) {
    DeviceContext context = deviceContext();
    slices =
        new SliceTables(
            window,
            new FiringTimes(plan.zone()),
            plan.allowedLateness().toMillis(),
            state(),
            context.retry(),
            watermark);
    sliceSplitter = new SliceSplitter(plan, steps, context);
    transfer = new HostTransfer(context);
    if (hasBufferState() && WindowBuffer.supports(plan, state().schema())) {
      SliceBuffer rows =
          new SliceBuffer(
              window, state(SliceBuffer.STATE), state(), sliceSplitter, transfer, context);
      buffer = new WindowBuffer(plan, rows, slices, context);
    }
  }

  private boolean hasBufferState() {
    return !furtherStateSchemas().isEmpty();
  }

  /**
   * Restores windows of processing time in the order of the clocks of the subtasks that had them,
   * so that each key fires each window once. For windows of event time that one of these subtasks
   * has fired and another has not, rows may still come: they fire again.
   */
  @Override
  protected void restore(List<KeyedStateHandle> parts, PartReader reader) throws Exception {
    openSlices(progress.restoredWatermark());
    List<KeyedStateHandle> ordered = new ArrayList<>(parts);
    ordered.sort(Comparator.comparingLong(this::restoredWatermark));
    for (KeyedStateHandle part : ordered) {
      if (window.isProcessingTime()) {
        restoredWindows.fire(slices, restoredWatermark(part));
      }
      reader.read(part);
      boolean isBuffered = hasBufferState() && state(SliceBuffer.STATE).rowCount() > 0;
      if (isBuffered || state().rowCount() > 0) {
        progress.check();
      }
      if (isBuffered) {
        buffer.restore(restoredWatermark(part));
      }
    }
  }

  private long restoredWatermark(KeyedStateHandle part) {
    return progress.restoredWatermark(part.getKeyGroupRange());
  }

  @Override
  public void open() throws Exception {
    super.open();
    deviceContext().logFallback(this, plan.hostReasons());
    if (window.isProcessingTime()) {
      clock.awaitNextFiring();
    }
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    progress.update(slices.watermark());
  }

  /** Emits early results before a barrier, since a checkpoint has none that are held back. */
  @Override
  protected void flush(ControlEvent event) {
    if (window.isProcessingTime()) {
      clock.flush(event);
    } else if (earlyResults != null && event == ControlEvent.BARRIER) {
      earlyResults.emitAll();
    }
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    if (window.isProcessingTime()) {
      if (batch.table().rowCount() > 0) {
        addNow(batch.table());
      }
      return;
    }
    sliceSplitter.forTimes(lateRows.table(batch), rows -> add(rows, element));
    if (earlyResults != null) {
      earlyResults.emitDue();
    }
  }

  // The rows of a batch belong to one slice.
  private void addNow(Table input) {
    long now = Math.max(clock.now(), slices.watermark() + 1);
    long sliceEnd = window.sliceEnd(TimeWindowUtil.toUtcTimestampMills(now, plan.zone()));
    DeviceContext context = deviceContext();
    context
        .retry()
        .withSplitAndRetry(
            input,
            part ->
                steps.aggregates().arguments().apply(part, context.stream(), context.resource()),
            arguments -> {
              try (arguments) {
                slices.add(sliceEnd, arguments, results::emitChanges);
              }
            });
    clock.awaitNextFiring();
  }

  private void add(TimedRows rows, StreamRecord<ColumnBatch> element) {
    long first = window.sliceStart(rows.range().first());
    long last = window.sliceStart(rows.range().last());
    long inTime = slices.firstStartInTime(first, last);
    if (inTime == first) {
      addInTime(rows);
    } else if (inTime > last) {
      lateRows.add(rows.rows().input(), element);
    } else {
      sliceSplitter.splitAt(
          rows,
          inTime,
          lateRows.areKept(),
          this::addInTime,
          late -> lateRows.add(late.input(), element));
    }
  }

  private void addInTime(TimedRows rows) {
    if (buffer != null && buffer.takes(rows.range())) {
      buffer.add(rows);
      return;
    }
    if (buffer != null) {
      buffer.flush();
    }
    sliceSplitter.forSlices(rows, this::addSlice);
  }

  private void addSlice(long sliceEnd, Table arguments) {
    if (earlyResults != null) {
      earlyResults.add(sliceEnd, arguments);
    } else {
      slices.add(sliceEnd, arguments, results::emitChanges);
    }
  }

  /**
   * Fires the windows of event time that {@code mark} ends, and forwards it behind their rows. It
   * is forwarded at once by windows of processing time.
   */
  @Override
  public void processWatermark(Watermark mark) throws Exception {
    if (window.isProcessingTime()) {
      super.processWatermark(mark);
      return;
    }
    fire(mark.getTimestamp());
    super.processWatermark(new Watermark(slices.watermark()));
  }

  private OptionalLong nextFiringTime() {
    return restoredWindows.isEmpty()
        ? slices.nextFiringTime()
        : OptionalLong.of(slices.watermark());
  }

  private void fireAt(long processingTime) {
    restoredWindows.emit(results::emit);
    fire(processingTime);
  }

  // Fires the windows that end by a watermark or a processing time.
  private void fire(long time) {
    if (time > slices.watermark()) {
      if (buffer != null) {
        buffer.fire(time, results::emit);
      }
      for (OptionalLong end = slices.nextWindowEnd(time);
          end.isPresent();
          end = slices.nextWindowEnd(time)) {
        fireWindow(end.getAsLong());
      }
      slices.advance(time);
    }
  }

  private void fireWindow(long windowEnd) {
    if (earlyResults != null) {
      earlyResults.emit(windowEnd);
      slices.pass(windowEnd);
      earlyResults.dropLateSlices();
    } else {
      slices.fire(windowEnd, rows -> results.emit(rows, windowEnd));
    }
  }

  /** Whether rows are in the buffer, and not in the tables of slices. */
  boolean isBuffered() {
    return buffer != null && buffer.isActive();
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(clock, earlyResults, restoredWindows, results, transfer, steps, super::close);
  }
}
