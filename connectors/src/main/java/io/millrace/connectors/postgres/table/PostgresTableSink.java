// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.table;

import io.millrace.column.Schema;
import io.millrace.connectors.postgres.sink.PostgresSinkOptions;
import io.millrace.connectors.postgres.sink.PostgresSinks;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.sql.table.BatchDynamicTableSink;
import io.millrace.operators.sql.table.RowProviders;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DynamicTableSink;

/**
 * A table of PostgreSQL that rows are written to.
 *
 * @param hasKey whether rows replace and delete those of their keys; they are added otherwise
 * @param session the options of the session
 */
record PostgresTableSink(
    Schema schema, PostgresSinkOptions options, boolean hasKey, ReadableConfig session)
    implements BatchDynamicTableSink {
  @Override
  public ChangelogMode getChangelogMode(ChangelogMode requested) {
    return hasKey ? ChangelogMode.upsert(false) : ChangelogMode.insertOnly();
  }

  @Override
  public SinkRuntimeProvider getSinkRuntimeProvider(Context context) {
    return RowProviders.sink(this, hasKey ? RowKindColumn.addTo(schema) : schema, session);
  }

  @Override
  public DataStreamSink<?> consumeBatches(
      ProviderContext context, DataStream<ColumnBatch> batches) {
    DataStreamSink<byte[]> sink =
        PostgresSinks.write(
                batches, ColumnBatchTypeInformation.schemaOf(batches.getType()), options)
            .setParallelism(batches.getParallelism());
    context.generateUid("sink").ifPresent(sink::uid);
    return sink;
  }

  @Override
  public DynamicTableSink copy() {
    return this;
  }

  @Override
  public String asSummaryString() {
    return options.toString();
  }
}
