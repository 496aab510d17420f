// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.context.SendPace;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.operators.transfer.ControlEvent;
import io.millrace.operators.transfer.Deadline;
import io.millrace.operators.transfer.WatermarkMode;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * The downstream side of an exchange: joins the small batches that arrive and moves them to the
 * device. Each {@link ControlEvent} flushes, so that it does not overtake a row; a watermark that
 * {@linkplain CoalesceOptions#watermarks is held} waits for the flush. A joined batch has the
 * largest timestamp of its parts.
 */
final class CoalesceOperator extends ColumnBatchOperator<ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private static final long SLOWDOWN = 10;

  private final CoalesceOptions options;
  private transient BatchCoalescer coalescer;
  private transient SendPace pace;
  private transient ExchangeMetrics exchangeMetrics;
  private transient StreamRecord<ColumnBatch> joined;
  private transient Deadline deadline;

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
    deadline = new Deadline(getProcessingTimeService(), this::flush);
  }

  // Batches are joined in host memory and moved to the device once.
  @Override
  protected boolean takesHostBatches() {
    return true;
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element)
      throws Exception {
    if (coalescer.needsFlushBefore(batch) || isTooSlowFor(batch)) {
      flush();
    }
    if (coalescer.isEmpty()) {
      long now = getProcessingTimeService().getCurrentProcessingTime();
      deadline.set(now, now + delayMillis());
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

  private long delayMillis() {
    long delay = options.delay().toMillis();
    return options.watermarks() == WatermarkMode.HOLD
        ? Math.max(delay, SLOWDOWN * Math.min(delay, pace.averageMillis()))
        : delay;
  }

  private boolean isTooSlowFor(ColumnBatch batch) {
    return !coalescer.isEmpty() && coalescer.rows() + batch.rowCount() > pace.rowLimit();
  }

  private void flush() throws Exception {
    send();
    sendHeldWatermark();
  }

  private void send() {
    StreamRecord<ColumnBatch> element = joined.copy(null);
    joined.eraseTimestamp();
    deadline.clear();
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
  protected boolean holdsWatermark() {
    return options.watermarks() == WatermarkMode.HOLD && !coalescer.isEmpty();
  }

  @Override
  protected void flush(ControlEvent event) throws Exception {
    flush();
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(deadline, coalescer, super::close);
  }
}
