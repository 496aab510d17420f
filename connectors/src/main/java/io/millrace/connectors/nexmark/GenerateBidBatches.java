package io.millrace.connectors.nexmark;

import io.millrace.column.Table;
import io.millrace.device.DeviceKind;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.DeviceContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Turns a batch's number into the batch of bids, and lets a watermark follow it. */
public final class GenerateBidBatches extends AbstractStreamOperator<ColumnBatch>
    implements OneInputStreamOperator<Long, ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final NexmarkOptions options;
  private transient DeviceContext deviceContext;
  private transient NexmarkGenerator generator;
  private transient BidTables tables;

  GenerateBidBatches(StreamOperatorParameters<ColumnBatch> parameters, NexmarkOptions options) {
    super(parameters);
    this.options = options;
  }

  @Override
  public void open() throws Exception {
    super.open();
    deviceContext = DeviceContext.open(this);
    generator = new NexmarkGenerator(options.configuration());
    tables = new BidTables(generator, deviceContext.hostStream(), deviceContext.pinnedResource());
  }

  @Override
  public void processElement(StreamRecord<Long> element) {
    long batchNumber = element.getValue();
    long firstBid = batchNumber * options.rowsPerBatch();
    int rows = options.rowsOf(batchNumber);
    long lastMillis = generator.eventMillis(NexmarkGenerator.eventOfBid(firstBid + rows - 1));
    ColumnBatch batch = new ColumnBatch(onDevice(tables.generate(firstBid, rows)));
    ColumnBatch.emit(new StreamRecord<>(batch, lastMillis), output);
    // The next event may be of the same millisecond.
    output.emitWatermark(new Watermark(lastMillis - 1));
  }

  private Table onDevice(Table table) {
    if (deviceContext.device().kind() == DeviceKind.HOST) {
      return table;
    }
    try (table) {
      return table.copyTo(deviceContext.resource(), deviceContext.stream(), deviceContext.stream());
    }
  }

  // The source's own watermarks know nothing of event time but its end.
  @Override
  public void processWatermark(Watermark mark) throws Exception {
    if (mark.equals(Watermark.MAX_WATERMARK)) {
      super.processWatermark(mark);
    }
  }

  @Override
  public void close() throws Exception {
    if (tables != null) {
      tables.close();
    }
    if (deviceContext != null) {
      deviceContext.close();
    }
    super.close();
  }
}
