package io.millrace.connectors.nexmark;

import io.millrace.column.Schema;
import io.millrace.connectors.nexmark.NexmarkStreams.RowFunction;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.RowData;

/** Turns a batch's number into the batch's rows, and lets a watermark follow them. */
final class GenerateRows extends AbstractStreamOperator<RowData>
    implements OneInputStreamOperator<Long, RowData> {
  private static final long serialVersionUID = 1L;
  private static final int MILLI_DIGITS = 3;

  private final NexmarkOptions options;
  private final int timeField;
  private final RowFunction function;
  private transient NexmarkGenerator generator;

  GenerateRows(
      StreamOperatorParameters<RowData> parameters,
      NexmarkOptions options,
      Schema schema,
      RowFunction function) {
    super(parameters);
    this.options = options;
    this.timeField = schema.indexOf("date_time");
    this.function = function;
  }

  @Override
  public void open() throws Exception {
    super.open();
    generator = new NexmarkGenerator(options.configuration());
  }

  @Override
  public void processElement(StreamRecord<Long> element) {
    long batchNumber = element.getValue();
    long first = batchNumber * options.rowsPerBatch();
    long end = first + options.rowsOf(batchNumber);
    long millis = Long.MIN_VALUE;
    for (long i = first; i < end; i++) {
      RowData row = function.row(generator, i);
      millis = row.getTimestamp(timeField, MILLI_DIGITS).getMillisecond();
      output.collect(new StreamRecord<>(row, millis));
    }
    // The next event may be of the same millisecond.
    output.emitWatermark(new Watermark(millis - 1));
  }

  // The source's own watermarks know nothing of event time but its end.
  @Override
  public void processWatermark(Watermark mark) throws Exception {
    if (mark.equals(Watermark.MAX_WATERMARK)) {
      super.processWatermark(mark);
    }
  }
}
