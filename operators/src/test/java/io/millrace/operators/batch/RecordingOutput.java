package io.millrace.operators.batch;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;

/** A consumer of batches, which it borrows, and of all else, which it keeps in order. */
final class RecordingOutput implements Output<StreamRecord<ColumnBatch>> {
  private final List<Object> elements = new ArrayList<>();
  private final Consumer<StreamRecord<ColumnBatch>> onBatch;

  RecordingOutput(Consumer<StreamRecord<ColumnBatch>> onBatch) {
    this.onBatch = onBatch;
  }

  /** What came, and what was {@linkplain #add added}, in order. */
  List<Object> elements() {
    return elements;
  }

  void add(Object element) {
    elements.add(element);
  }

  @Override
  public void collect(StreamRecord<ColumnBatch> batch) {
    onBatch.accept(batch);
  }

  @Override
  public <X> void collect(OutputTag<X> tag, StreamRecord<X> record) {
    throw new AssertionError("nothing goes to side outputs: " + record);
  }

  @Override
  public void emitWatermark(Watermark watermark) {
    add(watermark);
  }

  @Override
  public void emitWatermark(WatermarkEvent watermark) {
    add(watermark);
  }

  @Override
  public void emitWatermarkStatus(WatermarkStatus status) {
    add(status);
  }

  @Override
  public void emitLatencyMarker(LatencyMarker marker) {
    add(marker);
  }

  @Override
  public void emitRecordAttributes(RecordAttributes attributes) {
    add(attributes);
  }

  @Override
  public void close() {}
}
