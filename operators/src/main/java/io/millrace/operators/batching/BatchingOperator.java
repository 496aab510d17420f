// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.context.SendPace;
import io.millrace.operators.row.RowAppender;
import io.millrace.operators.transfer.ControlEvent;
import io.millrace.operators.transfer.Deadline;
import io.millrace.operators.transfer.FlushingOperator;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.transfer.WatermarkMode;
import java.util.Optional;
import java.util.function.Supplier;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Collects rows into batches on the operator's device; {@link BatchOptions} say when a batch is
 * sent. Rows are copied into columns as they arrive, so row objects may be reused. The operator has
 * no state in checkpoints: the open batch is sent before the barrier.
 *
 * <p>A batch has the largest event time of its rows as its timestamp, or no timestamp if no row has
 * an event time. If {@link UnbatchingOperator#append} makes rows of the batches again, rows keep
 * their own event times in the batch's hidden {@link EventTimeColumn}; a batch of rows without
 * event times does not have this column. Watermarks, watermark status, record attributes and
 * generalized watermarks do not overtake rows that arrived before them; latency markers do. A batch
 * that does not fit into device memory is sent as several batches.
 *
 * @param <IN> the type of the rows
 */
@PublicEvolving
public final class BatchingOperator<IN> extends FlushingOperator<ColumnBatch>
    implements OneInputStreamOperator<IN, ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private final Schema schema;
  private final RowAppender.Factory<IN> appenders;
  private final BatchOptions options;
  private final boolean keepsEventTimes;

  private transient DeviceContext deviceContext;
  private transient HostTransfer transfer;
  private transient RowBatcher<IN> batcher;
  private transient SendPace pace;
  private transient BatchingMetrics batchingMetrics;
  private transient long timestamp;
  private transient Deadline deadline;

  private BatchingOperator(
      StreamOperatorParameters<ColumnBatch> parameters,
      Schema schema,
      RowAppender.Factory<IN> appenders,
      BatchOptions options,
      boolean keepsEventTimes) {
    super(parameters);
    this.schema = schema;
    this.appenders = appenders;
    this.options = options;
    this.keepsEventTimes = keepsEventTimes;
  }

  /** Makes the operators. An {@link EventTimeRequest} may change it while a job is built. */
  static final class Constructor<IN> implements OperatorFactory.Constructor<IN, ColumnBatch> {
    private static final long serialVersionUID = 1L;

    private final Schema schema;
    private final RowAppender.Factory<IN> appenders;
    private final BatchOptions options;
    private boolean keepsEventTimes;

    private Constructor(Schema schema, RowAppender.Factory<IN> appenders, BatchOptions options) {
      this.schema = schema;
      this.appenders = appenders;
      this.options = options;
    }

    /** Operators that are made from now on keep the event times of rows in their batches. */
    void keepEventTimes() {
      keepsEventTimes = true;
    }

    @Override
    public BatchingOperator<IN> construct(StreamOperatorParameters<ColumnBatch> parameters) {
      return new BatchingOperator<>(parameters, schema, appenders, options, keepsEventTimes);
    }
  }

  /** A factory of operators that make batches of {@code schema}. */
  public static <IN> OperatorFactory<IN, ColumnBatch> factory(
      Schema schema, RowAppender.Factory<IN> appenders, BatchOptions options) {
    @SuppressWarnings("unchecked") // the class of a generic type
    Class<BatchingOperator<IN>> operatorClass =
        (Class<BatchingOperator<IN>>) (Class<?>) BatchingOperator.class;
    return new OperatorFactory<>(operatorClass, new Constructor<>(schema, appenders, options));
  }

  @Override
  public void open() throws Exception {
    super.open();
    deviceContext = DeviceContext.open(this);
    output = deviceContext.countRows(this, output);
    transfer = new HostTransfer(deviceContext);
    RowTableBuilder table = transfer.tableBuilder(schema);
    batcher =
        new RowBatcher<>(
            table,
            appenders.create(table),
            transfer.eventTimes(),
            options,
            getProcessingTimeService()::getCurrentProcessingTime);
    deadline = new Deadline(getProcessingTimeService(), () -> flush(FlushCause.DEADLINE));
    pace = deviceContext.sendPace();
    batchingMetrics = new BatchingMetrics(getMetricGroup(), options.maxRows(), this::rowLimit);
    timestamp = Long.MIN_VALUE;
  }

  private int rowLimit() {
    return Math.min(batcher.rowLimit(), pace.rowLimit());
  }

  @Override
  public void processElement(StreamRecord<IN> row) throws Exception {
    boolean keepsTime = keepsEventTimes && row.hasTimestamp();
    append(row.getValue(), keepsTime ? row.getTimestamp() : EventTimeColumn.NONE);
    if (row.hasTimestamp()) {
      timestamp = Math.max(timestamp, row.getTimestamp());
    }
    if (batcher.isFull()) {
      flush(batcher.fullCause());
    } else if (batcher.rows() >= pace.rowLimit()) {
      flush(FlushCause.PACE);
    } else if (!deadline.isSet()) {
      deadline.set(batcher.openedMillis(), batcher.deadlineMillis());
    }
  }

  private void append(IN row, long eventTime) throws Exception {
    try {
      batcher.append(row, eventTime);
    } catch (GpuOutOfMemoryException e) {
      appendWithRetry(row, eventTime);
    }
  }

  // If there is no memory for the next row, flushing the batch frees memory.
  private void appendWithRetry(IN row, long eventTime) throws Exception {
    Supplier<Boolean> append =
        () -> {
          batcher.append(row, eventTime);
          return true;
        };
    try {
      deviceContext.retry().withHostRetry(append);
    } catch (GpuOutOfMemoryException e) {
      if (batcher.rows() == 0) {
        throw e;
      }
      flush(FlushCause.MEMORY);
      deviceContext.retry().withHostRetry(append);
    }
  }

  private void flush(FlushCause cause) throws Exception {
    long age = batcher.ageMillis();
    Optional<Table> table = deviceContext.retry().withHostRetry(() -> batcher.close(cause));
    deadline.clear();
    if (table.isPresent()) {
      send(table.get(), cause, age);
    }
    sendHeldWatermark();
  }

  private void send(Table table, FlushCause cause, long age) {
    long startMillis = getProcessingTimeService().getCurrentProcessingTime();
    StreamRecord<ColumnBatch> element = new StreamRecord<>(null);
    if (timestamp != Long.MIN_VALUE) {
      element.setTimestamp(timestamp);
    }
    timestamp = Long.MIN_VALUE;
    pace.send(
        table.rowCount(),
        () ->
            transfer.toDevice(
                table,
                part -> {
                  batchingMetrics.count(cause, part.rowCount(), part.sizeInBytes(), age);
                  ColumnBatch.emit(element.copy(new ColumnBatch(part)), output);
                }));
    batcher.sent(Math.max(0, getProcessingTimeService().getCurrentProcessingTime() - startMillis));
  }

  @Override
  protected boolean holdsWatermark() {
    return options.watermarks() == WatermarkMode.HOLD && batcher.rows() > 0;
  }

  @Override
  protected void flush(ControlEvent event) throws Exception {
    flush(
        switch (event) {
          case WATERMARK -> FlushCause.WATERMARK;
          case WATERMARK_STATUS, RECORD_ATTRIBUTES -> FlushCause.WATERMARK_STATUS;
          case BARRIER -> FlushCause.BARRIER;
          case END_OF_INPUT -> FlushCause.END_OF_INPUT;
        });
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(deadline, batcher, transfer, deviceContext, super::close);
  }
}
