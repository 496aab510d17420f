// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.operator;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import org.apache.flink.annotation.Internal;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Emits nothing. */
@Internal
public final class DiscardingOperator extends ColumnBatchOperator<ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private DiscardingOperator(StreamOperatorParameters<ColumnBatch> parameters) {
    super(parameters);
  }

  public static OperatorFactory<ColumnBatch, ColumnBatch> factory() {
    return new OperatorFactory<>(DiscardingOperator.class, DiscardingOperator::new);
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {}
}
