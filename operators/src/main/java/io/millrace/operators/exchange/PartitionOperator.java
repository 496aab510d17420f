// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.exchange;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.DownloadQueue;
import io.millrace.operators.transfer.DownloadingOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * The upstream side of an exchange: cuts each batch into parts, in host memory and small enough to
 * be sent, for a {@link org.apache.flink.streaming.runtime.partitioner.StreamPartitioner} to send.
 */
final class PartitionOperator extends DownloadingOperator<ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final TableSplitter.Factory splitters;
  private transient TableSplitter splitter;
  private transient ExchangeMetrics exchangeMetrics;

  private PartitionOperator(
      StreamOperatorParameters<ColumnBatch> parameters, TableSplitter.Factory splitters) {
    super(parameters);
    this.splitters = splitters;
  }

  static OperatorFactory<ColumnBatch, ColumnBatch> factory(TableSplitter.Factory splitters) {
    return new OperatorFactory<>(
        PartitionOperator.class, parameters -> new PartitionOperator(parameters, splitters));
  }

  @Override
  public void open() throws Exception {
    super.open();
    splitter = splitters.create(deviceContext(), ExchangeTarget.of(this));
    exchangeMetrics = new ExchangeMetrics(getMetricGroup());
  }

  // The network writer has serialized a part when collect returns, so each is released at once.
  @Override
  protected void download(
      ColumnBatch batch, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    splitter.split(
        batch,
        downloads,
        (part, bytes) -> {
          exchangeMetrics.count(part.rowCount(), bytes);
          ColumnBatch.emit(element.copy(part), output);
          deviceContext().checkNotCanceled();
        });
  }
}
