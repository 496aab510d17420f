// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.operators.batch.ColumnBatch;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.OutputTag;

/** Counts the rows of batches. Forwards all elements to another output. */
final class RowCountingOutput implements Output<StreamRecord<ColumnBatch>> {
  private final Output<StreamRecord<ColumnBatch>> output;
  private final RowCounter counter;

  RowCountingOutput(Output<StreamRecord<ColumnBatch>> output, RowCounter counter) {
    this.output = output;
    this.counter = counter;
  }

  @Override
  public void collect(StreamRecord<ColumnBatch> element) {
    counter.count(element.getValue().table());
    output.collect(element);
  }

  @Override
  public <X> void collect(OutputTag<X> outputTag, StreamRecord<X> element) {
    output.collect(outputTag, element);
  }

  @Override
  public void emitWatermark(Watermark watermark) {
    output.emitWatermark(watermark);
  }

  @Override
  public void emitWatermarkStatus(WatermarkStatus status) {
    output.emitWatermarkStatus(status);
  }

  @Override
  public void emitLatencyMarker(LatencyMarker marker) {
    output.emitLatencyMarker(marker);
  }

  @Override
  public void emitRecordAttributes(RecordAttributes attributes) {
    output.emitRecordAttributes(attributes);
  }

  @Override
  public void emitWatermark(WatermarkEvent watermark) {
    output.emitWatermark(watermark);
  }

  @Override
  public void close() {
    output.close();
  }
}
