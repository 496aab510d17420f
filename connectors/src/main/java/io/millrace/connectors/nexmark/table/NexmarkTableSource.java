// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.nexmark.table;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.nexmark.NexmarkOptions;
import io.millrace.connectors.nexmark.NexmarkSchemas;
import io.millrace.connectors.nexmark.NexmarkStreams;
import io.millrace.connectors.table.PushedLimit;
import io.millrace.connectors.table.ReadColumns;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batching.BatchOptions;
import io.millrace.operators.batching.BatchingOperator;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.operators.row.SchemaConverter;
import io.millrace.operators.sql.table.BatchScanTableSource;
import io.millrace.operators.sql.table.RowProviders;
import io.millrace.operators.wire.ColumnBatchTypeInformation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.abilities.SupportsLimitPushDown;
import org.apache.flink.table.connector.source.abilities.SupportsProjectionPushDown;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;

/**
 * Nexmark's events, of which only the fields become columns that a query reads. The planner changes
 * a copy of it, by the abilities.
 */
final class NexmarkTableSource
    implements BatchScanTableSource, SupportsProjectionPushDown, SupportsLimitPushDown {
  private static final RowType EVENT = SchemaConverter.toRowType(NexmarkSchemas.EVENT);

  private final Schema declared;
  private NexmarkOptions events;
  private final Optional<Integer> parallelism;
  private final BatchOptions batching;
  private ReadColumns read;
  private Schema produced;

  NexmarkTableSource(
      Schema declared,
      NexmarkOptions events,
      Optional<Integer> parallelism,
      BatchOptions batching) {
    this.declared = declared;
    this.events = events;
    this.parallelism = parallelism;
    this.batching = batching;
    this.read = ReadColumns.all(declared);
    this.produced = declared;
  }

  @Override
  public ChangelogMode getChangelogMode() {
    return ChangelogMode.insertOnly();
  }

  @Override
  public boolean supportsNestedProjection() {
    return true;
  }

  @Override
  public void applyProjection(int[][] fields, DataType producedType) {
    read = ReadColumns.all(declared).project(fields);
    produced = withNullsOfRows(SchemaConverter.toSchema(producedType));
  }

  // Flink's type of a field is that within its ROW, also where the ROW may be null.
  private Schema withNullsOfRows(Schema schema) {
    return new Schema(
        IntStream.range(0, schema.size())
            .mapToObj(
                i -> new Field(schema.field(i).name(), schema.field(i).type(), read.isNullable(i)))
            .toList());
  }

  /** A table without end stays without end. */
  @Override
  public void applyLimit(long limit) {
    if (events.count() != NexmarkOptions.UNBOUNDED) {
      events = events.withCount(Math.min(events.count(), PushedLimit.of(limit)));
    }
  }

  @Override
  public ScanRuntimeProvider getScanRuntimeProvider(ScanContext context) {
    return RowProviders.scan(this, events.count() != NexmarkOptions.UNBOUNDED);
  }

  @Override
  public Transformation<ColumnBatch> produceBatches(
      ProviderContext context, StreamExecutionEnvironment environment) {
    SingleOutputStreamOperator<RowData> rows = NexmarkStreams.eventRows(environment, events);
    Transformation<?> source = rows.getTransformation().getInputs().get(0);
    parallelism.ifPresent(
        number -> {
          source.setParallelism(number);
          rows.setParallelism(number);
        });
    context.generateUid("source").ifPresent(source::setUid);
    return BatchingOperator.factory(produced, RowDataAppender.factory(EVENT, paths()), batching)
        .appendTo(
            rows.getTransformation(),
            "batches of events",
            new ColumnBatchTypeInformation(produced),
            environment.getConfiguration());
  }

  private List<List<Integer>> paths() {
    return read.paths().stream()
        .<List<Integer>>map(
            path -> {
              List<Integer> ofEvent = new ArrayList<>(path);
              ofEvent.set(0, EVENT.getFieldIndex(declared.field(path.get(0)).name()));
              return ofEvent;
            })
        .toList();
  }

  @Override
  public DynamicTableSource copy() {
    NexmarkTableSource copy = new NexmarkTableSource(declared, events, parallelism, batching);
    copy.read = read;
    copy.produced = produced;
    return copy;
  }

  @Override
  public String asSummaryString() {
    return "events of Nexmark";
  }
}
