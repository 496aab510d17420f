// SPDX-License-Identifier: Apache-2.0
package io.millrace.comparison;

import org.apache.flink.api.common.accumulators.LongMaximum;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.TimestampData;

/** Sends the rows of a batch, and a watermark behind them, for each number from 0 on. */
final class SendRows extends AbstractStreamOperator<RowData>
    implements OneInputStreamOperator<Long, RowData> {
  private static final long serialVersionUID = 1L;

  private final ComparedRows rows;

  SendRows(StreamOperatorParameters<RowData> parameters, ComparedRows rows) {
    super(parameters);
    this.rows = rows;
  }

  @Override
  public void processElement(StreamRecord<Long> element) {
    long batch = element.getValue();
    if (batch == rows.fillBatches()) {
      // The maximum of negated times is the first.
      getRuntimeContext()
          .addAccumulator(KeyedStateBenchmark.BEGIN, new LongMaximum(-System.nanoTime()));
    }
    StreamRecord<RowData> record = new StreamRecord<>(null);
    long first = batch * ComparedRows.BATCH_ROWS;
    for (long row = first; row < first + ComparedRows.BATCH_ROWS; row++) {
      long millis = rows.millis(row);
      record.setTimestamp(millis);
      output.collect(
          record.replace(
              GenericRowData.of(
                  rows.key(row), ComparedRows.value(row), TimestampData.fromEpochMillis(millis))));
    }
    output.emitWatermark(new Watermark(record.getTimestamp() - 1));
  }
}
