// SPDX-License-Identifier: Apache-2.0
package io.millrace.comparison;

import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.HostTransfer;
import org.apache.flink.api.common.accumulators.LongMaximum;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Sends the rows of {@link SendRows}, and its watermarks, as batches. */
final class SendBatches extends AbstractStreamOperator<ColumnBatch>
    implements OneInputStreamOperator<Long, ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final ComparedRows rows;
  private transient DeviceContext context;
  private transient HostTransfer transfer;

  SendBatches(StreamOperatorParameters<ColumnBatch> parameters, ComparedRows rows) {
    super(parameters);
    this.rows = rows;
  }

  @Override
  public void open() throws Exception {
    super.open();
    context = DeviceContext.open(this);
    transfer = new HostTransfer(context);
  }

  @Override
  public void processElement(StreamRecord<Long> element) {
    long batch = element.getValue();
    if (batch == rows.fillBatches()) {
      getRuntimeContext()
          .addAccumulator(KeyedStateBenchmark.BEGIN, new LongMaximum(-System.nanoTime()));
    }
    long first = batch * ComparedRows.BATCH_ROWS;
    long last = first + ComparedRows.BATCH_ROWS - 1;
    try (RowTableBuilder builder = transfer.tableBuilder(ComparedRows.SCHEMA)) {
      FixedWidthColumnBuilder key = (FixedWidthColumnBuilder) builder.column(0);
      FixedWidthColumnBuilder value = (FixedWidthColumnBuilder) builder.column(1);
      FixedWidthColumnBuilder time = (FixedWidthColumnBuilder) builder.column(2);
      for (long row = first; row <= last; row++) {
        key.appendLong(rows.key(row));
        value.appendLong(ComparedRows.value(row));
        time.appendLong(rows.millis(row));
      }
      transfer.toDevice(
          builder.finish(ComparedRows.BATCH_ROWS),
          table -> ColumnBatch.emit(new StreamRecord<>(new ColumnBatch(table)), output));
    }
    output.emitWatermark(new Watermark(rows.millis(last) - 1));
  }

  @Override
  public void close() throws Exception {
    if (transfer != null) {
      transfer.close();
    }
    if (context != null) {
      context.close();
    }
    super.close();
  }
}
