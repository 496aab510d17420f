// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import io.millrace.operators.batch.ColumnBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;

/**
 * Records what an operator emits in a test harness, in order. Of a batch it records what the reader
 * returns; it borrows batches, as a chained operator does. Other elements are recorded as they are.
 */
public final class RecordingOutput implements Output<StreamRecord<ColumnBatch>> {
  private final Function<StreamRecord<ColumnBatch>, ?> reader;
  private final List<Object> elements = new ArrayList<>();
  private final List<Object> sideElements = new ArrayList<>();

  /**
   * @param reader returns what is recorded of a batch
   */
  public RecordingOutput(Function<StreamRecord<ColumnBatch>, ?> reader) {
    this.reader = reader;
  }

  /** The elements emitted so far; each batch is replaced by the reader's result. */
  public List<Object> elements() {
    return elements;
  }

  /** The reader's result for each batch in a side output, and other elements there. */
  public List<Object> sideElements() {
    return sideElements;
  }

  @Override
  public void collect(StreamRecord<ColumnBatch> element) {
    elements.add(reader.apply(element));
  }

  @Override
  public <X> void collect(OutputTag<X> outputTag, StreamRecord<X> element) {
    Object value = element.getValue();
    sideElements.add(
        value instanceof ColumnBatch batch ? reader.apply(element.replace(batch)) : value);
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
