// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.context.SendPace;
import io.millrace.operators.transfer.ColumnBatchOperator;
import java.util.concurrent.ScheduledFuture;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.IOUtils;

/**
 * The downstream side of an exchange: joins the small batches that arrive and moves them to the
 * device. Nothing overtakes a row that came before it: watermarks, their status, generalized
 * watermarks, record attributes, checkpoint barriers and the end of input flush. A joined batch has
 * the largest timestamp of its parts.
 */
final class CoalesceOperator extends ColumnBatchOperator<ColumnBatch> implements BoundedOneInput {
  private static final long serialVersionUID = 1L;

  private final CoalesceOptions options;
  private transient BatchCoalescer coalescer;
  private transient SendPace pace;
  private transient ExchangeMetrics exchangeMetrics;
  private transient StreamRecord<ColumnBatch> joined;
  private transient long openedMillis;
  private transient ScheduledFuture<?> timer;

  private CoalesceOperator(
      StreamOperatorParameters<ColumnBatch> parameters, CoalesceOptions options) {
    super(parameters);
    this.options = options;
  }

  static OperatorFactory<ColumnBatch, ColumnBatch> factory(CoalesceOptions options) {
    return new OperatorFactory<>(
        CoalesceOperator.class, parameters -> new CoalesceOperator(parameters, options));
  }

  @Override
  public void open() throws Exception {
    super.open();
    coalescer = new BatchCoalescer(options, deviceContext());
    pace = deviceContext().sendPace();
    exchangeMetrics = new ExchangeMetrics(getMetricGroup());
    joined = new StreamRecord<>(null);
  }

  // They are joined there, and moved to the device once.
  @Override
  protected boolean takesHostBatches() {
    return true;
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    if (coalescer.needsFlushBefore(batch) || isTooSlowFor(batch)) {
      flush();
    }
    if (coalescer.isEmpty()) {
      startDelay();
    }
    coalescer.add(batch);
    if (element.hasTimestamp()) {
      joined.setTimestamp(
          joined.hasTimestamp()
              ? Math.max(joined.getTimestamp(), element.getTimestamp())
              : element.getTimestamp());
    }
    if (coalescer.isFull() || coalescer.rows() >= pace.rowLimit()) {
      flush();
    }
  }

  private boolean isTooSlowFor(ColumnBatch batch) {
    return !coalescer.isEmpty() && coalescer.rows() + batch.rowCount() > pace.rowLimit();
  }

  // One timer at a time: a timer that comes too early for the current batch sets the next one.
  private void startDelay() {
    openedMillis = getProcessingTimeService().getCurrentProcessingTime();
    if (timer == null) {
      setTimer();
    }
  }

  private void setTimer() {
    timer = getProcessingTimeService().registerTimer(deadlineMillis(), time -> onTimer());
  }

  private long deadlineMillis() {
    return openedMillis + options.delay().toMillis();
  }

  private void onTimer() {
    timer = null;
    if (coalescer.isEmpty()) {
      return;
    }
    if (isDue()) {
      flush();
    } else {
      setTimer();
    }
  }

  // Where the clock was set back, the age is unknown.
  private boolean isDue() {
    long now = getProcessingTimeService().getCurrentProcessingTime();
    return now >= deadlineMillis() || now < openedMillis;
  }

  private void flush() {
    StreamRecord<ColumnBatch> element = joined.copy(null);
    joined.eraseTimestamp();
    if (coalescer.isEmpty()) {
      return;
    }
    pace.send(
        coalescer.rows(),
        () ->
            coalescer.flush(
                table -> {
                  exchangeMetrics.count(table.rowCount(), table.sizeInBytes());
                  ColumnBatch.emit(element.copy(new ColumnBatch(table)), output);
                }));
  }

  @Override
  public void processWatermark(Watermark watermark) throws Exception {
    flush();
    super.processWatermark(watermark);
  }

  @Override
  public void processWatermarkStatus(WatermarkStatus status) throws Exception {
    flush();
    super.processWatermarkStatus(status);
  }

  @Override
  public void processWatermark(WatermarkEvent watermark) throws Exception {
    flush();
    super.processWatermark(watermark);
  }

  @Override
  public void processRecordAttributes(RecordAttributes attributes) throws Exception {
    flush();
    super.processRecordAttributes(attributes);
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
    flush();
    super.prepareSnapshotPreBarrier(checkpointId);
  }

  @Override
  public void endInput() {
    flush();
  }

  @Override
  public void close() throws Exception {
    if (timer != null) {
      timer.cancel(false);
    }
    IOUtils.closeAll(coalescer, super::close);
  }
}
