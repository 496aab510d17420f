// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * The base of operators that may hold rows back: it calls {@link #forward} for each control event,
 * so that the event stays behind the rows before it. Latency markers are not held up.
 *
 * @param <OUT> the output of the operator
 */
@PublicEvolving
public abstract class FlushingOperator<OUT> extends AbstractStreamOperator<OUT>
    implements BoundedOneInput {
  private static final long serialVersionUID = 1L;

  private transient Watermark heldWatermark;

  protected FlushingOperator(StreamOperatorParameters<OUT> parameters) {
    super(parameters);
  }

  /**
   * Emits all rows that are held back, before {@code event} is forwarded. By default the operator
   * holds nothing back.
   */
  protected void flush(ControlEvent event) throws Exception {}

  /**
   * Forwards a control event behind the rows before it. By default it flushes and forwards.
   *
   * @param step forwards the event; must run exactly once, in the order of the events, and for
   *     {@link ControlEvent#BARRIER}, {@link ControlEvent#RECORD_ATTRIBUTES} and {@link
   *     ControlEvent#END_OF_INPUT} before this method returns
   */
  protected void forward(ControlEvent event, ThrowingRunnable<Exception> step) throws Exception {
    flush(event);
    step.run();
  }

  /**
   * Whether the next watermark waits for {@link #sendHeldWatermark}, which the operator then calls
   * whenever it has emitted the rows that it holds back. By default no watermark waits. The last
   * watermark of a stream never waits.
   */
  protected boolean holdsWatermark() {
    return false;
  }

  /** Forwards the last watermark that waits, if any. */
  protected final void sendHeldWatermark() throws Exception {
    if (heldWatermark != null) {
      Watermark watermark = heldWatermark;
      heldWatermark = null;
      super.processWatermark(watermark);
    }
  }

  @Override
  public void processWatermark(Watermark watermark) throws Exception {
    if (holdsWatermark() && !watermark.equals(Watermark.MAX_WATERMARK)) {
      heldWatermark = watermark;
    } else {
      heldWatermark = null;
      forward(ControlEvent.WATERMARK, () -> super.processWatermark(watermark));
    }
  }

  @Override
  public void processWatermark(WatermarkEvent watermark) throws Exception {
    forward(ControlEvent.WATERMARK, () -> super.processWatermark(watermark));
  }

  @Override
  public void processWatermarkStatus(WatermarkStatus status) throws Exception {
    forward(ControlEvent.WATERMARK_STATUS, () -> super.processWatermarkStatus(status));
  }

  @Override
  public void processRecordAttributes(RecordAttributes attributes) throws Exception {
    forward(ControlEvent.RECORD_ATTRIBUTES, () -> super.processRecordAttributes(attributes));
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
    forward(ControlEvent.BARRIER, () -> super.prepareSnapshotPreBarrier(checkpointId));
  }

  @Override
  public void endInput() throws Exception {
    forward(ControlEvent.END_OF_INPUT, () -> {});
  }
}
