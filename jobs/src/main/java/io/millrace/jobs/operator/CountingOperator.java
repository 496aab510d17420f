// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.operator;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Passes batches on and counts them in accumulators, which the client reads while the job runs. It
 * also reports the device that its subtask works on.
 */
@Internal
public final class CountingOperator extends ColumnBatchOperator<ColumnBatch> {
  public static final String ROWS = "rows ";
  public static final String BATCHES = "batches ";
  public static final String DEVICE = "device ";
  private static final long serialVersionUID = 1L;

  private final LongCounter rows = new LongCounter();
  private final LongCounter batches = new LongCounter();
  private final String place;

  private CountingOperator(StreamOperatorParameters<ColumnBatch> parameters, String place) {
    super(parameters);
    this.place = place;
  }

  /**
   * A factory of operators that count at one place of the job.
   *
   * @param place where in the job the operator counts; its accumulators are named after it
   */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(String place) {
    return new OperatorFactory<>(
        CountingOperator.class, parameters -> new CountingOperator(parameters, place));
  }

  @Override
  public void open() throws Exception {
    super.open();
    getRuntimeContext().addAccumulator(ROWS + place, rows);
    getRuntimeContext().addAccumulator(BATCHES + place, batches);
    // Another counting operator of the task may have added it.
    getRuntimeContext().getLongCounter(DEVICE + deviceContext().device().description());
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    rows.add(batch.rowCount());
    batches.add(1);
    output.collect(element);
  }
}
