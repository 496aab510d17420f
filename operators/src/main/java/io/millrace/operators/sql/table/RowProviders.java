// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.table;

import io.millrace.column.Schema;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.batching.BatchingOperator;
import io.millrace.operators.batching.UnbatchingOperator;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.row.RowDataDecoder;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DataStreamSinkProvider;
import org.apache.flink.table.connector.source.DataStreamScanProvider;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;

/** Rows of tables whose connectors give or take batches, for jobs without the planner hook. */
@PublicEvolving
public final class RowProviders {
  private RowProviders() {}

  /** The rows of a source's batches. */
  public static DataStreamScanProvider scan(BatchScanTableSource source, boolean isBounded) {
    return new Scan(source, isBounded);
  }

  private record Scan(BatchScanTableSource source, boolean isBounded)
      implements DataStreamScanProvider {
    @Override
    public DataStream<RowData> produceDataStream(
        ProviderContext context, StreamExecutionEnvironment environment) {
      Transformation<ColumnBatch> batches = source.produceBatches(context, environment);
      Schema schema = ColumnBatchTypeInformation.schemaOf(batches.getOutputType());
      return new DataStream<>(
          environment,
          UnbatchingOperator.factory(
                  schema,
                  environment.getConfig().isObjectReuseEnabled()
                      ? RowDataDecoder.copyingFactory()
                      : RowDataDecoder.factory(),
                  Optional.empty())
              .appendTo(
                  batches,
                  "rows",
                  InternalTypeInfo.of(SchemaConverter.toRowType(schema)),
                  environment.getConfiguration()));
    }
  }

  /**
   * Batches of rows for a sink.
   *
   * @param schema of the batches; with a row-kind column if the sink takes more than insertions
   * @param session has the options of {@link SqlOptions}
   */
  public static DataStreamSinkProvider sink(
      BatchDynamicTableSink sink, Schema schema, ReadableConfig session) {
    return new Sink(sink, schema, BatchOptions.latency(session.get(SqlOptions.BATCH_LATENCY)));
  }

  private record Sink(BatchDynamicTableSink sink, Schema schema, BatchOptions options)
      implements DataStreamSinkProvider {
    @Override
    public DataStreamSink<?> consumeDataStream(ProviderContext context, DataStream<RowData> rows) {
      Transformation<ColumnBatch> batches =
          BatchingOperator.factory(schema, RowDataAppender::new, options)
              .appendTo(
                  rows.getTransformation(),
                  "batches",
                  new ColumnBatchTypeInformation(schema),
                  rows.getExecutionEnvironment().getConfiguration());
      return sink.consumeBatches(
          context, new DataStream<>(rows.getExecutionEnvironment(), batches));
    }

    @Override
    public Optional<Integer> getParallelism() {
      return sink.parallelism();
    }
  }
}
