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
 * <p>A row's timestamp is its value in the declared time column, or the batch's timestamp where
 * that is null. Where none is declared, it is the one that the row came with, if the batch's rows
 * keep theirs (see {@link #append}), else the batch's. The same row object may be sent again and
 * again; see {@link RowDecoder}.
 *
 * @param <OUT> the kind of row
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
   * @param schema of all batches
   * @param timeColumn a TIMESTAMP, or a BIGINT of milliseconds since 1970-01-01T00:00Z, that gives
   *     rows their timestamps; empty to give them their own or the batch's
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
   * Appends an operator to {@code batches} that sends their rows. If no column gives their
   * timestamps, the operators that make batches of rows, at the beginning of {@code batches}, keep
   * the timestamp of each row from now on.
   *
   * @param batches a stream of {@link ColumnBatchTypeInformation}
   * @param decoders makes rows of columns
   * @param type the type of the rows
   * @param timeColumn a TIMESTAMP, or a BIGINT of milliseconds since 1970-01-01T00:00Z; empty for
   *     the timestamps that the rows came with
   * @throws IllegalArgumentException if there is no such column or it is of another type
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

  /** Rows that are read without any further memory. */
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
