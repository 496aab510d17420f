// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark;

import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import org.apache.flink.annotation.Internal;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/** Turns the numbers of a batch into the batch of bids, and lets a watermark follow it. */
@Internal
public final class BidGeneratingOperator extends AbstractStreamOperator<ColumnBatch>
    implements OneInputStreamOperator<NumberBatch, ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final NexmarkConfiguration configuration;
  private transient DeviceContext deviceContext;
  private transient HostTransfer transfer;
  private transient NexmarkGenerator generator;
  private transient BidTables tables;

  BidGeneratingOperator(
      StreamOperatorParameters<ColumnBatch> parameters, NexmarkConfiguration configuration) {
    super(parameters);
    this.configuration = configuration;
  }

  @Override
  public void open() throws Exception {
    super.open();
    deviceContext = DeviceContext.open(this);
    output = deviceContext.countRows(this, output);
    transfer = new HostTransfer(deviceContext);
    generator = new NexmarkGenerator(configuration);
    tables = new BidTables(generator, deviceContext.hostStream(), deviceContext.pinnedResource());
  }

  @Override
  public void processElement(StreamRecord<NumberBatch> element) {
    NumberBatch bids = element.getValue();
    Table host = deviceContext.retry().withHostRetry(() -> tables.generate(bids));
    long lastBid = bids.numbers().number(bids.size() - 1);
    transfer.toDevice(
        host,
        table ->
            ColumnBatch.emit(new StreamRecord<>(new ColumnBatch(table), millis(lastBid)), output));
    output.emitWatermark(new Watermark(millis(bids.following()) - 1));
  }

  private long millis(long bid) {
    return generator.eventMillis(NexmarkGenerator.eventOfBid(bid));
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
    IOUtils.closeAll(transfer, tables, deviceContext, super::close);
  }
}
