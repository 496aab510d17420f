// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.table;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowKindColumn;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.sink.DynamicTableSink;

/**
 * A sink of a table that takes batches where Millrace's operators write the table. Its {@link
 * #getSinkRuntimeProvider} takes rows, for jobs without Millrace's planner hook; {@link
 * RowProviders#sink} makes it of the batches.
 *
 * <p>Abilities such as metadata are Flink's interfaces, and are applied before the sink is asked
 * for.
 */
@PublicEvolving
public interface BatchDynamicTableSink extends DynamicTableSink {
  /**
   * Ends batches in the table. Their columns have the names and the order of the columns that the
   * sink would get as rows, with the types of {@link io.millrace.operators.row.SchemaConverter},
   * and a {@link RowKindColumn} behind them unless all rows are insertions. A column that the table
   * declares NOT NULL has no nulls. The timestamps of the stream's records have no meaning.
   *
   * @param context gives the uids of operators
   * @param batches a stream of {@link io.millrace.operators.wire.ColumnBatchTypeInformation}; the
   *     operators before the sink have its parallelism
   */
  DataStreamSink<?> consumeBatches(ProviderContext context, DataStream<ColumnBatch> batches);

  /** The parallelism of the sink; empty for that of its input. */
  default Optional<Integer> parallelism() {
    return Optional.empty();
  }
}
