package io.millrace.operators.testing;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;

/**
 * Remembers what an operator emits, in order, for a test harness: the rows of batches (borrowed, as
 * a chained operator would), watermarks and their status.
 */
public final class RecordingOutput implements Output<StreamRecord<ColumnBatch>> {
  private final DeviceExtension device;
  private final List<Object> elements = new ArrayList<>();

  /**
   * The rows of one batch.
   *
   * @param timestamp of its record; null without one
   */
  public record Rows(List<List<Object>> rows, Long timestamp) {}

  public RecordingOutput(DeviceExtension device) {
    this.device = device;
  }

  /** What was emitted: {@link Rows}, {@link Watermark} and {@link WatermarkStatus}. */
  public List<Object> elements() {
    return elements;
  }

  @Override
  public void collect(StreamRecord<ColumnBatch> element) {
    elements.add(
        new Rows(
            device.rows(element.getValue().table()),
            element.hasTimestamp() ? element.getTimestamp() : null));
  }

  @Override
  public <X> void collect(OutputTag<X> outputTag, StreamRecord<X> element) {
    throw new UnsupportedOperationException("there is no side output " + outputTag);
  }

  @Override
  public void emitWatermark(Watermark watermark) {
    elements.add(watermark);
  }

  @Override
  public void emitWatermarkStatus(WatermarkStatus status) {
    elements.add(status);
  }

  @Override
  public void emitLatencyMarker(LatencyMarker marker) {
    elements.add(marker);
  }

  @Override
  public void emitRecordAttributes(RecordAttributes attributes) {
    elements.add(attributes);
  }

  @Override
  public void emitWatermark(WatermarkEvent watermark) {
    elements.add(watermark);
  }

  @Override
  public void close() {}
}
