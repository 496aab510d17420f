// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import io.millrace.connectors.nexmark.NexmarkStreams.EventOfNumber;
import io.millrace.connectors.nexmark.NexmarkStreams.RowFunction;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.RowData;

/** Turns the numbers of a batch into rows, and lets a watermark follow them. */
final class RowGeneratingOperator extends AbstractStreamOperator<RowData>
    implements OneInputStreamOperator<NumberBatch, RowData> {
  private static final long serialVersionUID = 1L;

  private final NexmarkConfiguration configuration;
  private final EventOfNumber eventOfNumber;
  private final RowFunction function;
  private transient NexmarkGenerator generator;

  RowGeneratingOperator(
      StreamOperatorParameters<RowData> parameters,
      NexmarkConfiguration configuration,
      EventOfNumber eventOfNumber,
      RowFunction function) {
    super(parameters);
    this.configuration = configuration;
    this.eventOfNumber = eventOfNumber;
    this.function = function;
  }

  @Override
  public void open() throws Exception {
    super.open();
    generator = new NexmarkGenerator(configuration);
  }

  @Override
  public void processElement(StreamRecord<NumberBatch> element) {
    NumberBatch batch = element.getValue();
    for (int i = 0; i < batch.size(); i++) {
      if (getContainingTask().isCanceled()) {
        throw new CancelTaskException("the task was canceled while it sent rows");
      }
      long event = eventOfNumber.apply(batch.numbers().number(i));
      RowData row = function.row(generator, event);
      output.collect(new StreamRecord<>(row, generator.eventMillis(event)));
    }
    long following = eventOfNumber.apply(batch.following());
    output.emitWatermark(new Watermark(generator.eventMillis(following) - 1));
  }

  // The source's own watermarks know nothing of event time but its end.
  @Override
  public void processWatermark(Watermark mark) throws Exception {
    if (mark.equals(Watermark.MAX_WATERMARK)) {
      super.processWatermark(mark);
    }
  }
}
