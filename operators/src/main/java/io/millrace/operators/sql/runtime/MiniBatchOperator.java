// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.runtime;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import java.time.Duration;
import java.util.concurrent.Future;
import org.apache.flink.annotation.Internal;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Sends the watermarks that end Flink SQL's mini-batches, and passes batches on. In processing time
 * it makes them, an interval apart; in event time it lets those watermarks of its input through
 * that end an interval.
 */
@Internal
public abstract class MiniBatchOperator extends ColumnBatchOperator<ColumnBatch> {
  private static final long serialVersionUID = 1L;

  final long intervalMillis;
  transient long current;

  private MiniBatchOperator(StreamOperatorParameters<ColumnBatch> parameters, Duration interval) {
    super(parameters);
    this.intervalMillis = interval.toMillis();
  }

  /** A factory of operators that make watermarks of the processing time. */
  public static OperatorFactory<ColumnBatch, ColumnBatch> inProcessingTime(Duration interval) {
    return new OperatorFactory<>(
        ProcessingTime.class, parameters -> new ProcessingTime(parameters, interval));
  }

  /** A factory of operators that choose watermarks of the input. */
  public static OperatorFactory<ColumnBatch, ColumnBatch> inEventTime(Duration interval) {
    return new OperatorFactory<>(
        EventTime.class, parameters -> new EventTime(parameters, interval));
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    output.collect(element);
  }

  @Override
  public final void processWatermark(Watermark mark) {
    if (!mark.equals(Watermark.MAX_WATERMARK)) {
      received(mark.getTimestamp());
    } else if (current != Long.MAX_VALUE) {
      current = Long.MAX_VALUE;
      output.emitWatermark(mark);
    }
  }

  abstract void received(long watermark);

  /** See {@link #inProcessingTime}. */
  private static final class ProcessingTime extends MiniBatchOperator {
    private static final long serialVersionUID = 1L;

    private ProcessingTime(StreamOperatorParameters<ColumnBatch> parameters, Duration interval) {
      super(parameters, interval);
    }

    @Override
    public void open() throws Exception {
      super.open();
      setTimer(getProcessingTimeService().getCurrentProcessingTime() + intervalMillis);
    }

    private void setTimer(long time) {
      Future<?> unused =
          getProcessingTimeService()
              .registerTimer(
                  time,
                  now -> {
                    advance();
                    setTimer(current + intervalMillis);
                  });
    }

    @Override
    protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
      advance();
      super.processBatch(batch, element);
    }

    private void advance() {
      long now = getProcessingTimeService().getCurrentProcessingTime();
      long start = now - now % intervalMillis;
      if (start > current) {
        current = start;
        output.emitWatermark(new Watermark(start));
      }
    }

    @Override
    void received(long watermark) {}
  }

  /** See {@link #inEventTime}. */
  private static final class EventTime extends MiniBatchOperator {
    private static final long serialVersionUID = 1L;

    private transient long next;

    private EventTime(StreamOperatorParameters<ColumnBatch> parameters, Duration interval) {
      super(parameters, interval);
    }

    @Override
    public void open() throws Exception {
      super.open();
      next = endOfInterval();
    }

    private long endOfInterval() {
      return current - Math.floorMod(current, intervalMillis) + intervalMillis - 1;
    }

    @Override
    void received(long watermark) {
      current = Math.max(current, watermark);
      if (current >= next) {
        advance();
      }
    }

    private void advance() {
      output.emitWatermark(new Watermark(current));
      long end = endOfInterval();
      next = end > current ? end : end + intervalMillis;
    }

    @Override
    public void finish() throws Exception {
      super.finish();
      if (current != Long.MAX_VALUE) {
        advance();
      }
    }
  }
}
