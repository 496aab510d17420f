// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.memory.retry.GpuRetry;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.state.StateBlock;
import io.millrace.state.StateTable;
import io.millrace.state.row.Expiry;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import java.io.InputStream;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyGroupStatePartitionStreamProvider;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.transformations.OneInputTransformation;
import org.apache.flink.util.IOUtils;

/**
 * The base of operators that keep {@link StateTables}, behind an exchange by the tables' key. A
 * checkpoint holds the tables as raw keyed state, so that it is restored with any parallelism and
 * on any device. The task's thread only shares the tables' chunks with the checkpoint; another
 * thread writes them, while batches go on and copy the chunks that they change.
 */
@Internal
public abstract class KeyedStateOperator extends ColumnBatchOperator<ColumnBatch> {
  private static final long serialVersionUID = 1L;

  private transient StateTables state;
  private transient StateSweep sweep;
  // The latest time of an update: the clock may go back.
  private transient long now;

  protected KeyedStateOperator(StreamOperatorParameters<ColumnBatch> parameters) {
    super(parameters);
  }

  /**
   * Makes Flink redistribute the state of an operator by key groups.
   *
   * @param operator behind an exchange by key
   */
  public static void declareKeyed(SingleOutputStreamOperator<ColumnBatch> operator) {
    OneInputTransformation<?, ?> transformation =
        (OneInputTransformation<?, ?>) operator.getTransformation();
    transformation.setStateKeySelector(new NoKeySelector<>());
    transformation.setStateKeyType(Types.INT);
  }

  /** Flink needs a selector to keep raw keyed state, and never calls it. */
  private static final class NoKeySelector<T> implements KeySelector<T, Integer> {
    private static final long serialVersionUID = 1L;

    @Override
    public Integer getKey(T batch) {
      throw new IllegalStateException("a batch has no single key");
    }
  }

  /**
   * The schema of the state. A checkpoint's values go to the accumulators with the same names, so a
   * name tells all that its value depends on.
   */
  protected abstract StateSchema stateSchema();

  /**
   * How long a key stays behind the time in its row, in milliseconds, if the rows of {@link
   * #stateSchema} have a time.
   */
  protected long stateTtl() {
    return 0;
  }

  /** The state, from {@link #initializeState} to {@link #close}. */
  protected final StateTables state() {
    return state;
  }

  /**
   * Combines rows with the only table of the state. This changes the state once, so it is an
   * attempt of its own: what comes before and behind it can be repeated. Rows that do not fit the
   * device are combined in parts.
   *
   * @param rows of {@link StateSchema#input}; stays the caller's
   * @param changes takes the changes of each part, as {@link StateTable#update(Table, UpdateTime)}
   *     gives them, and closes them
   */
  protected final void update(Table rows, Consumer<Table> changes) {
    boolean expires = state.schema().hasTime();
    UpdateTime time = expires ? updateTime() : null;
    deviceContext()
        .retry()
        .withSplitAndRetry(
            rows, part -> state.forUpdate(StateTables.ONLY).update(part, time), changes);
    if (expires) {
      sweep.advance(time);
    }
  }

  private UpdateTime updateTime() {
    now = Math.max(now, getProcessingTimeService().getCurrentProcessingTime());
    return UpdateTime.of(now, stateTtl());
  }

  /** State is written by {@link #snapshotState} and not by Flink. */
  @Override
  protected final boolean isUsingCustomRawKeyedState() {
    return true;
  }

  /** A batch has no single key. */
  @Override
  public final boolean hasKeyContext1() {
    return false;
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    DeviceContext device = openDeviceContext();
    state = new StateTables(stateSchema(), device.stream(), device.resource());
    now = Long.MIN_VALUE;
    StateMetrics.register(getMetricGroup(), state, stateTtl());
    sweep = new StateSweep(state, device.retry(), stateTtl());
    if (context.isRestored()) {
      restore(context.getRawKeyedStateInputs());
    }
  }

  // A file has the rows of all its key groups, and Flink offers it for each of them.
  private void restore(Iterable<KeyGroupStatePartitionStreamProvider> files) throws Exception {
    TaskInfo task = getRuntimeContext().getTaskInfo();
    Set<UUID> done = new HashSet<>();
    KeyGroupFilter filter =
        new KeyGroupFilter(
            task.getIndexOfThisSubtask(),
            task.getNumberOfParallelSubtasks(),
            task.getMaxNumberOfParallelSubtasks(),
            deviceContext());
    for (KeyGroupStatePartitionStreamProvider file : files) {
      InputStream stream = file.getStream();
      StateFormat.Header header = StateFormat.readHeader(stream);
      if (done.add(header.id())) {
        restore(header, stream, filter);
      }
    }
  }

  private void restore(StateFormat.Header header, InputStream stream, KeyGroupFilter filter)
      throws Exception {
    StateSchema schema = state.schema();
    int[] positions = header.positions(schema);
    UpdateTime time = updateTime();
    Expiry expiry = schema.hasTime() ? schema.expiryBefore(time.oldest()) : Expiry.NEVER;
    // Rows of unknown age are as if they were updated now.
    long unknownTime = expiry.word(time.now());
    Device device = deviceContext().device();
    GpuRetry retry = deviceContext().retry();
    StateFormat.readBlocks(
        header,
        header.layout(schema),
        device,
        retry,
        stream,
        (namespace, block) -> {
          if (retry.withHostRetry(() -> filter.apply(block)).rowCount() == 0) {
            return;
          }
          try (StateBlock own =
              retry.withHostRetry(
                  () -> block.withAccumulators(schema, positions, unknownTime, device))) {
            if (schema.hasTime()) {
              state.countExpired(own.removeExpired(expiry));
            }
            retry.withRetry(() -> merge(namespace, own));
          }
        });
  }

  private StateTable merge(long namespace, StateBlock block) {
    StateTable table = state.forUpdate(namespace);
    table.merge(block);
    return table;
  }

  @Override
  public final OperatorSnapshotFutures snapshotState(
      long checkpointId, long timestamp, CheckpointOptions options, CheckpointStreamFactory streams)
      throws Exception {
    OperatorSnapshotFutures futures =
        super.snapshotState(checkpointId, timestamp, options, streams);
    TaskInfo task = getRuntimeContext().getTaskInfo();
    KeyGroupRange keyGroups =
        KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
            task.getMaxNumberOfParallelSubtasks(),
            task.getNumberOfParallelSubtasks(),
            task.getIndexOfThisSubtask());
    StateWriter writer =
        new StateWriter(state.snapshot(), keyGroups, deviceContext().share(), streams);
    futures.setKeyedStateRawFuture(
        writer.toAsyncSnapshotFutureTask(getContainingTask().getCancelables()));
    return futures;
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(sweep, state, super::close);
  }
}
