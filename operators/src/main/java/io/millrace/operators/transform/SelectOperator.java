package io.millrace.operators.transform;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.ColumnBatchOperator;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Applies {@link Select} to each batch on the device. */
@PublicEvolving
public final class SelectOperator extends ColumnBatchOperator<ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final Select select;

  private SelectOperator(StreamOperatorParameters<ColumnBatch> parameters, Select select) {
    super(parameters);
    this.select = select;
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    ColumnBatch selected =
        new ColumnBatch(
            select.apply(batch.table(), deviceContext().stream(), deviceContext().resource()));
    ColumnBatch.emit(element.copy(selected), output);
  }

  /** Makes the operator of each subtask. */
  public static final class Factory extends AbstractStreamOperatorFactory<ColumnBatch>
      implements OneInputStreamOperatorFactory<ColumnBatch, ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private final Select select;

    public Factory(Select select) {
      this.select = select;
      setChainingStrategy(ChainingStrategy.ALWAYS);
    }

    /** The schema of the batches that come out. */
    public Schema outputSchema() {
      return select.outputSchema();
    }

    @Override
    @SuppressWarnings("unchecked") // the interface's T is the operator's own type
    public <T extends StreamOperator<ColumnBatch>> T createStreamOperator(
        StreamOperatorParameters<ColumnBatch> parameters) {
      return (T) new SelectOperator(parameters, select);
    }

    @Override
    @SuppressWarnings("rawtypes") // as the interface has it
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
      return SelectOperator.class;
    }
  }
}
