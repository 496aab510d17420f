package io.millrace.operators.transform;

import io.millrace.column.Table;
import io.millrace.expression.EvaluationException;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.ColumnBatchOperator;
import io.millrace.operators.batch.OperatorFactory;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Applies a {@link TableTransform} to each batch on the device; the results keep their batches'
 * timestamps, and the event times of rows that keep their own. A batch that does not fit the device
 * is transformed in parts, each of which is a batch of its own then.
 *
 * <p>Where an expression fails for a row, what comes of the rows before it is emitted, and then the
 * job fails.
 */
@PublicEvolving
public final class TransformOperator extends ColumnBatchOperator<ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final TableTransform.Factory factory;
  private transient TableTransform transform;
  // Of the batch that is transformed: rows of the parts that are done.
  private transient int rowsDone;

  /**
   * What came of a part.
   *
   * @param rows of the part; at most, if it is the whole batch
   * @param failure of the row behind those that {@code table} came of; null if none failed
   */
  private record Attempt(Table table, int rows, EvaluationException failure) {}

  private TransformOperator(
      StreamOperatorParameters<ColumnBatch> parameters, TableTransform.Factory factory) {
    super(parameters);
    this.factory = factory;
  }

  /** A factory of operators that apply what {@code transforms} makes. */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(
      TableTransform.Factory transforms) {
    return new OperatorFactory<>(
        TransformOperator.class, parameters -> new TransformOperator(parameters, transforms));
  }

  @Override
  public void open() throws Exception {
    super.open();
    transform = factory.create(deviceContext());
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    rowsDone = 0;
    deviceContext()
        .retry()
        .withSplitAndRetry(
            batch.tableWithEventTimes(), this::attempt, attempt -> emit(attempt, element));
  }

  private Attempt attempt(Table table) {
    try {
      return new Attempt(transform.apply(table), table.rowCountUpperBound(), null);
    } catch (EvaluationException e) {
      try (Table before = table.slice(0, e.row())) {
        return new Attempt(transform.apply(before), table.rowCountUpperBound(), e);
      }
    }
  }

  private void emit(Attempt attempt, StreamRecord<ColumnBatch> element) {
    ColumnBatch.emit(element.copy(new ColumnBatch(attempt.table)), output);
    if (attempt.failure != null) {
      // What operators behind this one hold back leaves before the failure.
      output.emitRecordAttributes(RecordAttributes.EMPTY_RECORD_ATTRIBUTES);
      throw attempt.failure.behind(rowsDone);
    }
    rowsDone += attempt.rows;
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(transform, super::close);
  }
}
