// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres.table;

import io.millrace.column.Schema;
import io.millrace.connectors.postgres.source.PostgresSourceOptions;
import io.millrace.connectors.postgres.source.PostgresSources;
import io.millrace.connectors.table.PushedLimit;
import io.millrace.connectors.table.ReadColumns;
import io.millrace.connectors.table.TableColumns;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.table.BatchScanTableSource;
import io.millrace.operators.sql.table.RowProviders;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsLimitPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.types.DataType;

/** A table of PostgreSQL that a query reads. The planner changes a copy of it, by the ability. */
final class PostgresTableSource
    implements BatchScanTableSource, SupportsProjectionPushDown, SupportsLimitPushDown {
  private final Schema declared;
  private PostgresSourceOptions options;
  private final Optional<Integer> parallelism;
  private ReadColumns read;
  // The names of the fields of the rows.
  private List<String> produced;

  PostgresTableSource(
      Schema declared, PostgresSourceOptions options, Optional<Integer> parallelism) {
    this.declared = declared;
    this.options = options;
    this.parallelism = parallelism;
    this.read = ReadColumns.all(declared);
    this.produced = declared.names();
  }

  @Override
  public ChangelogMode getChangelogMode() {
    return ChangelogMode.insertOnly();
  }

  @Override
  public boolean supportsNestedProjection() {
    return false;
  }

  @Override
  public void applyProjection(int[][] fields, DataType producedType) {
    read = ReadColumns.all(declared).project(fields);
    produced = DataType.getFieldNames(producedType);
  }

  @Override
  public void applyLimit(long limit) {
    options = options.withLimit(PushedLimit.of(limit));
  }

  @Override
  public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
    return RowProviders.scan(this, true);
  }

  @Override
  public Transformation<ColumnBatch> produceBatches(
      ProviderContext context, StreamExecutionEnvironment environment) {
    SingleOutputStreamOperator<ColumnBatch> rows =
        PostgresSources.snapshot(environment, options, read.pruned(Set.of()));
    Transformation<?> source = rows.getTransformation().getInputs().get(0);
    parallelism.ifPresent(
        number -> {
          source.setParallelism(number);
          rows.setParallelism(number);
        });
    context.generateUid("source").ifPresent(source::setUid);
    context.generateUid("decode").ifPresent(rows::uid);
    return TableColumns.select(
        rows.getTransformation(),
        TableColumns.named(read.expressions(), produced),
        environment.getConfiguration());
  }

  @Override
  public DynamicTableSource copy() {
    PostgresTableSource copy = new PostgresTableSource(declared, options, parallelism);
    copy.read = read;
    copy.produced = produced;
    return copy;
  }

  @Override
  public String asSummaryString() {
    return options.toString();
  }
}
