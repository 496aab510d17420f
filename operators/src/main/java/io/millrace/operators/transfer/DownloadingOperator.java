// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceOptions;
import io.millrace.operators.context.LayeredOptions;
import java.util.concurrent.ScheduledFuture;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * The base of operators that end the device part of a chain: up to {@link
 * DeviceOptions#BATCHES_IN_FLIGHT} batches are copied to the host while the chain processes the
 * next batches; the host processes them in order.
 *
 * <p>Watermarks, watermark status and generalized watermarks stay behind the batches before them;
 * latency markers pass. No batch is in flight when a checkpoint barrier or record attributes pass,
 * or the input ends.
 *
 * @param <OUT> the output of the operator
 */
@PublicEvolving
public abstract class DownloadingOperator<OUT> extends ColumnBatchOperator<OUT> {
  private static final long serialVersionUID = 1L;

  // Only matters without further input: with input, batches leave at the next element.
  private static final long POLL_MILLIS = 1;

  private transient DownloadQueue downloads;
  private transient ScheduledFuture<?> timer;

  protected DownloadingOperator(StreamOperatorParameters<OUT> parameters) {
    super(parameters);
  }

  @Override
  public void open() throws Exception {
    super.open();
    int batchesInFlight = LayeredOptions.read(() -> DeviceOptions.batchesInFlight(this));
    downloads = new DownloadQueue(deviceContext(), batchesInFlight);
  }

  @Override
  protected final void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    download(batch, element.copy(batch), downloads);
    registerTimer();
  }

  /**
   * Adds a batch, or a table made of it on the device, to {@code downloads}, with the action to run
   * on the host.
   *
   * @param batch borrowed until this returns
   * @param element carries {@code batch} and its timestamp; it is not reused
   */
  protected abstract void download(
      ColumnBatch batch, StreamRecord<ColumnBatch> element, DownloadQueue downloads);

  private void registerTimer() {
    if (timer == null && !downloads.isEmpty()) {
      ProcessingTimeService time = getProcessingTimeService();
      timer = time.registerTimer(time.getCurrentProcessingTime() + POLL_MILLIS, now -> onTimer());
    }
  }

  private void onTimer() {
    timer = null;
    downloads.poll();
    registerTimer();
  }

  @Override
  protected final void flush(ControlEvent event) {
    downloads.drain();
  }

  @Override
  protected final void forward(ControlEvent event, ThrowingRunnable<Exception> step)
      throws Exception {
    switch (event) {
      case WATERMARK, WATERMARK_STATUS -> downloads.add(ThrowingRunnable.unchecked(step));
      case RECORD_ATTRIBUTES, BARRIER, END_OF_INPUT -> super.forward(event, step);
    }
  }

  @Override
  public void close() throws Exception {
    if (timer != null) {
      timer.cancel(false);
    }
    IOUtils.closeAll(downloads, super::close);
  }
}
