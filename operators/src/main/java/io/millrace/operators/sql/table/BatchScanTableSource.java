// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.table;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.row.RowKindColumn;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.ScanTableSource;

/**
 * A source of a table that gives batches where Millrace's operators read the table. Its {@link
 * #getScanRuntimeProvider} gives rows, for jobs without Millrace's planner hook.
 *
 * <p>Abilities such as projection, filter, limit and watermark push-down are Flink's interfaces,
 * and are applied before the batches are asked for.
 */
@PublicEvolving
public interface BatchScanTableSource extends ScanTableSource {
  /**
   * Adds the source to a job. The columns of its batches are by position the fields of the rows
   * that the source would give, with the types of {@link
   * io.millrace.operators.row.SchemaConverter}; a source whose {@link #getChangelogMode} has more
   * than insertions has a {@link RowKindColumn} behind them.
   *
   * @param context gives the uids of operators
   * @param environment gives the sources; no operator is added to it
   * @return a transformation of {@link io.millrace.operators.wire.ColumnBatchTypeInformation}
   */
  Transformation<ColumnBatch> produceBatches(
      ProviderContext context, StreamExecutionEnvironment environment);
}
