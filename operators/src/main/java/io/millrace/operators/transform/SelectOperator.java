package io.millrace.operators.transform;

import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.ColumnBatchOperator;
import io.millrace.operators.batch.OperatorFactory;
import org.apache.flink.annotation.PublicEvolving;
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
    deviceContext()
        .retry()
        .withSplitAndRetry(
            batch.table(),
            this::select,
            table -> ColumnBatch.emit(element.copy(new ColumnBatch(table)), output));
  }

  private Table select(Table table) {
    return select.apply(table, deviceContext().stream(), deviceContext().resource());
  }

  /** A factory of operators that apply {@code select}. */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(Select select) {
    return new OperatorFactory<>(
        SelectOperator.class, parameters -> new SelectOperator(parameters, select));
  }
}
