// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.column.Table;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.vector.BatchContext;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.transfer.ColumnBatchOperator;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.OutputTag;

/**
 * Applies a {@link TableTransform} to each batch on the device. Results have the timestamps of
 * their batches, and rows keep their own event times if they have them. A batch that does not fit
 * the device is transformed in parts, and each part is emitted as a batch.
 *
 * <p>If an expression fails for a row, the results of the rows before it are emitted and the job
 * fails. With a side output for such rows, they go there and the job continues.
 */
@PublicEvolving
public final class TransformOperator extends ColumnBatchOperator<ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final TableTransform.Factory factory;
  // The side output for rows that an expression fails for; null if such a row fails the job.
  private final OutputTag<ColumnBatch> failedRowsTag;
  private transient TableTransform transform;
  private transient FailedRows failedRows;
  private transient long watermark;
  private transient long randomSeed;
  // The rows of earlier batches, an upper bound of them.
  private transient long rowsBefore;
  // The rows of the current batch whose parts are done.
  private transient int rowsDone;

  /**
   * The result of a part of a batch.
   *
   * @param rows the row count of the part, an upper bound if it is the whole batch
   * @param failure of the row behind the rows in {@code table}; null if no row failed
   * @param failed rows for the side output; null if there are none
   */
  private record Attempt(Table table, int rows, EvaluationException failure, Table failed) {}

  private TransformOperator(
      StreamOperatorParameters<ColumnBatch> parameters,
      TableTransform.Factory factory,
      OutputTag<ColumnBatch> failedRowsTag) {
    super(parameters);
    this.factory = factory;
    this.failedRowsTag = failedRowsTag;
  }

  /**
   * Makes the operators.
   *
   * @param failedRows the side output for rows that an expression fails for; null if such a row
   *     fails the job
   */
  public record Constructor(TableTransform.Factory transforms, OutputTag<ColumnBatch> failedRows)
      implements OperatorFactory.Constructor<ColumnBatch, ColumnBatch> {
    private static final long serialVersionUID = 1L;

    @Override
    public TransformOperator construct(StreamOperatorParameters<ColumnBatch> parameters) {
      return new TransformOperator(parameters, transforms, failedRows);
    }
  }

  /** A factory of operators that apply the transforms of {@code transforms}. */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(
      TableTransform.Factory transforms) {
    return factory(transforms, null);
  }

  /**
   * As {@link #factory(TableTransform.Factory)}, but rows that an expression fails for do not fail
   * the job.
   *
   * @param failedRows the side output for these rows, in batches of {@link FailedRows#schema}
   */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(
      TableTransform.Factory transforms, OutputTag<ColumnBatch> failedRows) {
    return new OperatorFactory<>(TransformOperator.class, new Constructor(transforms, failedRows));
  }

  @Override
  public void open() throws Exception {
    super.open();
    transform = factory.create(deviceContext());
    transform.open(getRuntimeContext());
    deviceContext().logFallback(this, transform.hostReasons());
    failedRows = new FailedRows(transform, deviceContext());
    watermark = BatchContext.NO_WATERMARK;
    randomSeed = ThreadLocalRandom.current().nextLong();
  }

  @Override
  public void processWatermark(Watermark mark) throws Exception {
    watermark = mark.getTimestamp();
    super.processWatermark(mark);
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    rowsDone = 0;
    Table table = batch.tableWithEventTimes();
    BatchContext context =
        new BatchContext(
            getProcessingTimeService().getCurrentProcessingTime(),
            watermark,
            randomSeed,
            rowsBefore);
    rowsBefore += table.rowCountUpperBound();
    deviceContext()
        .retry()
        .withSplitAndRetry(
            table,
            part -> attempt(part, context.behind(rowsDone)),
            attempt -> emit(attempt, element));
  }

  private Attempt attempt(Table table, BatchContext batch) {
    try {
      return new Attempt(transform.apply(table, batch), table.rowCountUpperBound(), null, null);
    } catch (EvaluationException e) {
      if (failedRowsTag != null) {
        FailedRows.Separated separated = failedRows.separate(table, batch);
        return new Attempt(separated.transformed(), 0, null, separated.failed());
      }
      try (Table before = table.slice(0, e.row())) {
        return new Attempt(transform.apply(before, batch), table.rowCountUpperBound(), e, null);
      }
    }
  }

  private void emit(Attempt attempt, StreamRecord<ColumnBatch> element) {
    try (Table failed = attempt.failed) {
      ColumnBatch.emit(element.copy(new ColumnBatch(attempt.table)), output);
      if (failed != null) {
        emitFailed(new ColumnBatch(failed.share()), element);
      }
    }
    if (attempt.failure != null) {
      // Later operators flush the rows that they hold back before the failure.
      output.emitRecordAttributes(RecordAttributes.EMPTY_RECORD_ATTRIBUTES);
      throw FlinkCauses.of(attempt.failure.behind(rowsDone));
    }
    rowsDone += attempt.rows;
  }

  private void emitFailed(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    try {
      output.collect(failedRowsTag, element.copy(batch));
    } finally {
      batch.release();
    }
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(failedRows, transform, super::close);
  }
}
