// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.batching;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.memory.AccessScope;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.row.RowDecoder;
import io.millrace.operators.transfer.DownloadQueue;
import io.millrace.operators.transfer.DownloadingOperator;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Sends each row of a batch on its own, in order. The batch is copied to the host first; see {@link
 * DownloadingOperator}.
 *
 * <p>With a declared time column, a row's timestamp is the row's value in this column, or the
 * batch's timestamp if this value is null. Without one, it is the timestamp that the row had before
 * it was batched, if the batch keeps the timestamps of its rows (see {@link #append}), otherwise
 * the batch's timestamp. All rows may be sent as the same object, with new content each time; see
 * {@link RowDecoder}.
 *
 * @param <OUT> the type of the rows
 */
@PublicEvolving
public final class UnbatchingOperator<OUT> extends DownloadingOperator<OUT> {
  private static final long serialVersionUID = 1L;
  private final Schema schema;
  private final RowDecoder.Factory<OUT> factory;
  private final String timeColumn;

  private transient RowDecoder.OfTables<OUT> decoders;
  private transient UnbatchingMetrics unbatching;

  private UnbatchingOperator(
      StreamOperatorParameters<OUT> parameters,
      Schema schema,
      RowDecoder.Factory<OUT> factory,
      String timeColumn) {
    super(parameters);
    this.schema = schema;
    this.factory = factory;
    this.timeColumn = timeColumn;
  }

  /**
   * A factory of operators that send rows.
   *
   * @param schema the schema of all batches
   * @param timeColumn the column that gives rows their timestamps: a TIMESTAMP, or a BIGINT of
   *     milliseconds since 1970-01-01T00:00Z; empty for the timestamps that the rows had before
   *     they were batched
   */
  public static <OUT> OperatorFactory<ColumnBatch, OUT> factory(
      Schema schema, RowDecoder.Factory<OUT> decoders, Optional<String> timeColumn) {
    @SuppressWarnings("unchecked") // the class of a generic type
    Class<UnbatchingOperator<OUT>> operatorClass =
        (Class<UnbatchingOperator<OUT>>) (Class<?>) UnbatchingOperator.class;
    String column = timeColumn.orElse(null);
    return new OperatorFactory<>(
        operatorClass,
        parameters -> new UnbatchingOperator<>(parameters, schema, decoders, column));
  }

  /**
   * Appends to {@code batches} an operator that sends their rows. If {@code timeColumn} is empty,
   * the operators upstream that make batches of rows keep the timestamp of each row.
   *
   * @param batches a stream of {@link ColumnBatchTypeInformation}
   * @param decoders make rows of columns
   * @param type the type of the rows
   * @param timeColumn the column that gives rows their timestamps: a TIMESTAMP, or a BIGINT of
   *     milliseconds since 1970-01-01T00:00Z; empty for the timestamps that the rows had before
   *     they were batched
   * @throws IllegalArgumentException if the stream has another type, there is no column {@code
   *     timeColumn}, or this column has another type
   */
  public static <OUT> SingleOutputStreamOperator<OUT> append(
      DataStream<ColumnBatch> batches,
      RowDecoder.Factory<OUT> decoders,
      TypeInformation<OUT> type,
      Optional<String> timeColumn) {
    Schema schema = ColumnBatchTypeInformation.schemaOf(batches.getType());
    timeColumn.ifPresentOrElse(
        column -> RowTimestamps.check(schema, column),
        () -> EventTimeRequest.send(batches.getTransformation()));
    return factory(schema, decoders, timeColumn)
        .appendTo(batches, "Unbatch rows", type)
        .setParallelism(batches.getParallelism());
  }

  @Override
  public void open() throws Exception {
    super.open();
    decoders = factory.create(schema);
    unbatching = new UnbatchingMetrics(getMetricGroup());
  }

  @Override
  protected void download(
      ColumnBatch batch, StreamRecord<ColumnBatch> element, DownloadQueue downloads) {
    if (timeColumn == null) {
      downloads.addWithEventTimes(batch, table -> send(table, element));
    } else {
      downloads.add(batch, table -> send(table, element));
    }
  }

  private void send(Table table, StreamRecord<ColumnBatch> element) {
    try (HostRows hostRows =
        deviceContext().retry().withHostRetry(() -> new HostRows(table, element))) {
      StreamRecord<OUT> record = new StreamRecord<>(null);
      for (int row = 0; row < table.rowCount(); row++) {
        deviceContext().checkNotCanceled();
        record.replace(hostRows.decoder.decode(row));
        hostRows.timestamps.set(record, row);
        output.collect(record);
      }
    }
    unbatching.count(table.rowCount());
  }

  /** The readers of a batch's rows. Only its constructor can run out of device or pinned memory. */
  private final class HostRows implements AutoCloseable {
    private final AccessScope scope = AccessScope.on(deviceContext().hostStream());
    private final Table visible;
    private final RowDecoder<OUT> decoder;
    private final RowTimestamps timestamps;

    private HostRows(Table table, StreamRecord<ColumnBatch> element) {
      visible = EventTimeColumn.removeFrom(table);
      try {
        decoder = decoders.decoder(visible, scope);
        timestamps = RowTimestamps.of(element, table, timeColumn, scope);
      } catch (RuntimeException | Error e) {
        close();
        throw e;
      }
    }

    @Override
    public void close() {
      try (visible) {
        scope.close();
      }
    }
  }
}
