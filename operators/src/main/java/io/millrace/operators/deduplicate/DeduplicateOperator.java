// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import io.millrace.column.Column;
import io.millrace.column.FixedWidthColumnBuilder;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.gather.Gather;
import io.millrace.memory.Buffer;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.batch.EventTimeColumn;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.OperatorFactory;
import io.millrace.operators.deduplicate.DeduplicatePlan.Steps;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.state.ChangePairs;
import io.millrace.operators.state.KeyedStateOperator;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.transfer.HostTransfer;
import io.millrace.operators.transfer.NumberColumn;
import io.millrace.state.row.StateSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;

/**
 * Emits the first row of each key that is not known, in the order of the rows; or for each batch
 * the last row of each of its keys, as an insertion if the key is new and as an update else, in the
 * order in which the keys come first in the batch. If a column orders the rows, emits the first or
 * the last row of a key likewise as an insertion or an update, unless the row of an earlier batch
 * stays. Rows keep their own event times.
 *
 * <p>A batch that does not fit the device is processed in parts, each as if it were a batch.
 */
@Internal
public final class DeduplicateOperator extends KeyedStateOperator {
  private static final long serialVersionUID = 1L;

  private final DeduplicatePlan plan;
  private transient Steps steps;
  private transient HostTransfer transfer;
  private transient NumberColumn positions;
  private transient ListState<Long> batchesState;
  // The batches that were numbered, before this subtask's state was restored too.
  private transient long batches;

  /** Makes the operators. */
  public record Constructor(DeduplicatePlan plan)
      implements OperatorFactory.Constructor<ColumnBatch, ColumnBatch> {
    private static final long serialVersionUID = 1L;

    @Override
    public DeduplicateOperator construct(StreamOperatorParameters<ColumnBatch> parameters) {
      return new DeduplicateOperator(parameters, plan);
    }
  }

  private DeduplicateOperator(
      StreamOperatorParameters<ColumnBatch> parameters, DeduplicatePlan plan) {
    super(parameters);
    this.plan = plan;
  }

  /** A factory of operators behind an exchange by the keys of {@code plan}. */
  public static OperatorFactory<ColumnBatch, ColumnBatch> factory(DeduplicatePlan plan) {
    return new OperatorFactory<>(DeduplicateOperator.class, new Constructor(plan));
  }

  @Override
  protected StateSchema stateSchema() {
    return steps.state();
  }

  @Override
  protected StateTtl stateTtl() {
    return plan.stateTtl();
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    steps = plan.steps();
    super.initializeState(context);
    transfer = new HostTransfer(deviceContext());
    positions = new NumberColumn(transfer, 0, 1);
    batchesState =
        context
            .getOperatorStateStore()
            .getUnionListState(new ListStateDescriptor<>("batches", LongSerializer.INSTANCE));
    if (context.isRestored()) {
      // Rows of any subtask before may be in this state now.
      for (long restored : batchesState.get()) {
        batches = Math.max(batches, restored);
      }
    }
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    batchesState.update(List.of(batches));
  }

  @Override
  protected void processBatch(ColumnBatch batch, StreamRecord<ColumnBatch> element) {
    Table rows = batch.tableWithEventTimes();
    int count = rows.rowCount();
    for (int start = 0; start < count; start += DeduplicatePlan.MAX_BATCH_ROWS) {
      int sliced = Math.min(count - start, DeduplicatePlan.MAX_BATCH_ROWS);
      try (Table slice = rows.slice(start, sliced)) {
        deviceContext()
            .retry()
            .withSplitAndRetry(slice, this::ordered, ordered -> update(ordered, element));
      }
    }
  }

  private OrderedRows ordered(Table input) {
    try (Table columns = input.select(plan.updateColumns())) {
      Table ordered = plan.isByArrival() ? withArrivals(columns) : columns.share();
      return new OrderedRows(input.share(), ordered);
    }
  }

  private Table withArrivals(Table keys) {
    try (Table arrivals = arrivals(keys.rowCount())) {
      List<Column> columns =
          Stream.concat(keys.columns().stream(), arrivals.columns().stream())
              .map(Column::share)
              .toList();
      return new Table(plan.updateSchema(), columns, keys.rowCount());
    }
  }

  private Table arrivals(int count) {
    long first = batches * DeduplicatePlan.MAX_BATCH_ROWS;
    try (RowTableBuilder builder = transfer.tableBuilder(DeduplicatePlan.arrivals())) {
      FixedWidthColumnBuilder column = (FixedWidthColumnBuilder) builder.column(0);
      for (int row = 0; row < count; row++) {
        column.appendLong(first + row);
      }
      return transfer.upload(builder.finish(count));
    }
  }

  private void update(OrderedRows rows, StreamRecord<ColumnBatch> element) {
    batches++;
    try (rows) {
      update(rows.keys(), changes -> emit(rows, changes, element));
    }
  }

  private void emit(OrderedRows rows, Table changes, StreamRecord<ColumnBatch> element) {
    GpuRetry retry = deviceContext().retry();
    try (changes) {
      if (plan.isByArrival()) {
        retry.withSplitAndRetry(
            changes, part -> keptRows(rows.input(), part), kept -> emit(kept, element));
      } else {
        retry.withSplitAndRetry(
            new ChangePairs(changes),
            part -> keptCandidates(rows, part),
            kept -> emit(kept, element));
      }
    }
  }

  private Table keptCandidates(OrderedRows rows, ChangePairs pairs) {
    DeviceContext context = deviceContext();
    try (Table groups =
        steps
            .candidates()
            .groups(rows.keys(), pairs, positions, context.stream(), context.resource())) {
      return keptRows(rows.input(), groups);
    }
  }

  private Table keptRows(Table input, Table candidates) {
    DeviceContext context = deviceContext();
    try (Table kept = steps.keptRows().apply(candidates, context.stream(), context.resource());
        Column map = withoutMask(kept.column(0));
        Table rows = Gather.gather(input, map, context.stream(), context.resource())) {
      return plan.isChangelog() ? withKinds(rows, kept.column(1)) : rows.share();
    }
  }

  // No position is null, but a column that a GPU computed may have a mask.
  private static Column withoutMask(Column positions) {
    Buffer data = positions.data().orElseThrow().share();
    return new Column(
        positions.type(), positions.size(), positions.offset(), data, null, List.of());
  }

  // Event times come behind all columns.
  private static Table withKinds(Table rows, Column kinds) {
    List<Column> columns = new ArrayList<>();
    rows.columns().forEach(column -> columns.add(column.share()));
    boolean hasTimes = EventTimeColumn.isIn(rows.schema());
    columns.add(hasTimes ? columns.size() - 1 : columns.size(), kinds.share());
    try (Table visible = EventTimeColumn.removeFrom(rows)) {
      Schema schema = RowKindColumn.addTo(visible.schema());
      return new Table(hasTimes ? EventTimeColumn.addTo(schema) : schema, columns, rows.rowCount());
    }
  }

  private void emit(Table kept, StreamRecord<ColumnBatch> element) {
    if (kept.rowCount() == 0) {
      kept.close();
      return;
    }
    ColumnBatch.emit(element.copy(new ColumnBatch(kept)), output);
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(positions, transfer, steps, super::close);
  }
}
