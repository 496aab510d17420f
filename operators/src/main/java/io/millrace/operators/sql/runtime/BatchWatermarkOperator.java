// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import io.millrace.expression.vector.BatchContext;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.operators.transform.CalcPlan;
import java.io.Serializable;
import java.time.Duration;
import java.util.concurrent.Future;
import org.apache.flink.annotation.Internal;
import org.apache.flink.runtime.metrics.groups.TaskIOMetricGroup;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.util.PausableRelativeClock;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.IOUtils;

/**
 * Sends watermarks that an expression of the rows gives, and a batch at a time otherwise what Flink
 * SQL's {@code WatermarkAssignerOperator} does: the greatest watermark of a batch goes behind it,
 * at once if event time advanced by the interval of watermarks, else when the interval has passed.
 * Watermarks from upstream end here, except the one at the end of the input.
 */
@Internal
public final class BatchWatermarkOperator extends ColumnBatchOperator<ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final Constructor parameters;
  private transient GreatestTime greatest;
  private transient long intervalMillis;
  private transient long current;
  private transient long sent;
  // Stands still under back-pressure: an input that waits for the operators behind is not idle.
  private transient PausableRelativeClock clock;
  private transient long lastBatchTime;
  private transient boolean idle;

  private BatchWatermarkOperator(
      StreamOperatorParameters<ColumnBatch> operator, Constructor parameters) {
    super(operator);
    this.parameters = parameters;
  }

  /**
   * Makes the operators.
   *
   * @param watermarks has two columns: the watermark of each row, which may be null, and its event
   *     time, both TIMESTAMP(0..3) with or without a local time zone
   * @param idleTimeout after which an input without batches counts as idle; zero for never
   */
  public record Constructor(CalcPlan watermarks, Duration idleTimeout)
      implements OperatorFactory.Constructor<ColumnBatch, ColumnBatch>, Serializable {
    private static final long serialVersionUID = 1L;

    @Override
    public BatchWatermarkOperator construct(StreamOperatorParameters<ColumnBatch> operator) {
      return new BatchWatermarkOperator(operator, this);
    }
  }

  /** A factory of operators whose output is their input and watermarks. */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(
      CalcPlan watermarks, Duration idleTimeout) {
    return new OperatorFactory<>(
        BatchWatermarkOperator.class, new Constructor(watermarks, idleTimeout));
  }

  @Override
  public void open() throws Exception {
    super.open();
    greatest = new GreatestTime(parameters.watermarks, deviceContext());
    greatest.open(getRuntimeContext());
    intervalMillis = getExecutionConfig().getAutoWatermarkInterval();
    every(intervalMillis, this::advance);
    clock = new PausableRelativeClock(getProcessingTimeService().getClock());
    ioMetrics().registerBackPressureListener(clock);
    lastBatchTime = clock.relativeTimeMillis();
    every(parameters.idleTimeout.toMillis(), this::checkIdle);
  }

  private TaskIOMetricGroup ioMetrics() {
    return getContainingTask().getEnvironment().getMetricGroup().getIOMetricGroup();
  }

  private void every(long millis, Runnable step) {
    if (millis <= 0) {
      return;
    }
    // Timers end with the task.
    Future<?> unused =
        getProcessingTimeService()
            .registerTimer(
                getProcessingTimeService().getCurrentProcessingTime() + millis,
                time -> {
                  step.run();
                  every(millis, step);
                });
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    lastBatchTime = clock.relativeTimeMillis();
    if (idle && !parameters.idleTimeout.isZero()) {
      send(WatermarkStatus.ACTIVE);
    }
    BatchContext context =
        new BatchContext(
            getProcessingTimeService().getCurrentProcessingTime(), BatchContext.NO_WATERMARK, 0, 0);
    long time = deviceContext().retry().withRetry(() -> greatest.of(batch.table(), context));
    current = Math.max(current, time);
    output.collect(element);
    if (current - sent > intervalMillis) {
      advance();
    }
  }

  private void advance() {
    if (current > sent) {
      sent = current;
      output.emitWatermark(new Watermark(current));
    }
  }

  private void checkIdle() {
    boolean isTimedOut =
        clock.relativeTimeMillis() - lastBatchTime > parameters.idleTimeout.toMillis();
    if (isTimedOut && !idle) {
      send(WatermarkStatus.IDLE);
    }
  }

  private void send(WatermarkStatus status) {
    idle = status.isIdle();
    output.emitWatermarkStatus(status);
  }

  @Override
  public void processWatermark(Watermark mark) {
    if (mark.equals(Watermark.MAX_WATERMARK) && current != Long.MAX_VALUE) {
      if (idle && !parameters.idleTimeout.isZero()) {
        send(WatermarkStatus.ACTIVE);
      }
      current = Long.MAX_VALUE;
      sent = current;
      output.emitWatermark(mark);
    }
  }

  @Override
  public void processWatermarkStatus(WatermarkStatus status) {
    send(status);
  }

  @Override
  public void finish() throws Exception {
    processWatermark(Watermark.MAX_WATERMARK);
    super.finish();
  }

  @Override
  public void close() throws Exception {
    if (clock != null) {
      ioMetrics().unregisterBackPressureListener(clock);
    }
    IOUtils.closeAll(greatest, super::close);
  }
}
