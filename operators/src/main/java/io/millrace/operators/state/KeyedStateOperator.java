// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.column.Table;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.context.KeyedOperator;
import io.millrace.operators.context.LayeredOptions;
import io.millrace.operators.state.IncrementalStateWriter.Target;
import io.millrace.operators.transfer.ColumnBatchOperator;
import io.millrace.state.StateTable;
import io.millrace.state.row.StateSchema;
import io.millrace.state.row.UpdateTime;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RunnableFuture;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.PrioritizedOperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SnapshotType.SharingFilesStrategy;
import org.apache.flink.runtime.state.AsyncSnapshotCallable;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.KeyedStateHandle;
import org.apache.flink.runtime.state.SnapshotResult;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.util.IOUtils;

/**
 * The base of operators that keep {@link StateTables}, of one schema or of several, behind an
 * exchange by the tables' key. A checkpoint holds the tables as raw keyed state or, if the job has
 * incremental checkpoints, as managed keyed state that shares files with earlier checkpoints;
 * savepoints hold them as raw keyed state. Both forms are restored with any parallelism and on any
 * device. The task's thread only shares the tables' chunks with the checkpoint; another thread
 * writes them, while batches go on and copy the chunks that they change.
 */
@Internal
public abstract class KeyedStateOperator extends ColumnBatchOperator<ColumnBatch>
    implements KeyedOperator {
  private static final long serialVersionUID = 1L;

  private HashFunction keyHash = HashFunction.FLINK_JAVA;
  private transient KeyedStates states;
  private transient boolean isIncremental;
  private transient boolean isCompressed;
  private transient IncrementalCheckpoints checkpoints;
  private transient Map<String, StateSweep> sweeps;
  // Only of states from which rows are taken back.
  private transient Map<String, StateCompaction> compactions;
  private transient ExpiryClock clock;
  // Of updates in front of a watermark; else null.
  private transient UpdateTime watermarkTime;

  protected KeyedStateOperator(StreamOperatorParameters<ColumnBatch> parameters) {
    super(parameters);
  }

  @Override
  public final void setKeyHash(HashFunction newKeyHash) {
    keyHash = newKeyHash;
  }

  /**
   * The schema of the state. A checkpoint's values go to the accumulators with the same names, so a
   * name tells all that its value depends on.
   */
  protected abstract StateSchema stateSchema();

  /**
   * The schemas of further states by name. The first columns of their keys are the keys of the
   * exchange too; they have a time if {@link #stateSchema} has one. A checkpoint's states go to
   * those with the same names: a state that the checkpoint has not is empty then, and one that this
   * has not is left out.
   */
  protected Map<String, StateSchema> furtherStateSchemas() {
    return Map.of();
  }

  /**
   * How many of the first columns of the state's key are the keys of the exchange before this: all,
   * unless an operator says otherwise.
   */
  protected int exchangeKeys() {
    return stateSchema().keys().size();
  }

  /** How long a key stays, if the rows of {@link #stateSchema} have a time. */
  protected StateTtl stateTtl() {
    return StateTtl.NONE;
  }

  /** The state of {@link #stateSchema}, from {@link #initializeState} to {@link #close}. */
  protected final StateTables state() {
    return state(KeyedStates.UNNAMED);
  }

  /** All states, likewise. */
  final KeyedStates states() {
    return states;
  }

  /**
   * A state of {@link #furtherStateSchemas}, likewise.
   *
   * @throws IllegalArgumentException if there is none with this name
   */
  protected final StateTables state(String name) {
    return states.get(name);
  }

  /** {@link #update(String, Table, Consumer)} of {@link #state()}. */
  protected final void update(Table rows, Consumer<Table> changes) {
    update(KeyedStates.UNNAMED, rows, changes);
  }

  /**
   * Combines rows with the only table of a state. This changes the state once, so it is an attempt
   * of its own: what comes before and behind it can be repeated. Rows that do not fit the device
   * are combined in parts.
   *
   * @param name of the state
   * @param rows of {@link StateSchema#input}; stays the caller's
   * @param changes takes the changes of each part, as {@link StateTable#update(Table, UpdateTime)}
   *     gives them, and closes them
   */
  protected final void update(String name, Table rows, Consumer<Table> changes) {
    StateTables state = state(name);
    UpdateTime time = updateTime();
    deviceContext()
        .retry()
        .withSplitAndRetry(
            rows, part -> state.forUpdate(StateTables.ONLY).update(part, time), changes);
    if (time != null) {
      sweeps.get(name).advance(time);
    } else if (compactions.containsKey(name)) {
      compactions.get(name).advance();
    }
  }

  /** The time of an update of now; null if the rows of the state do not expire. */
  protected final UpdateTime updateTime() {
    if (!states.haveTime()) {
      return null;
    }
    return watermarkTime == null ? clock.now() : watermarkTime;
  }

  /**
   * Begins a batch, in operators that may {@link StateTtl#isOfBatches share the times of batches}:
   * its updates have the time that it got in the operator in front of this, or that of the
   * machine's clock if this is the first one.
   */
  protected final void beginBatch(ColumnBatch batch) {
    batch.processingTime().ifPresentOrElse(this::advance, this::readClock);
  }

  /** Gives updates the time of the machine's clock, in operators with {@link #beginBatch}. */
  protected final void readClock() {
    advance(getProcessingTimeService().getCurrentProcessingTime());
  }

  private void advance(long processingTime) {
    if (!stateTtl().isEventTime()) {
      clock.advance(processingTime);
    }
  }

  /**
   * A batch for the operator behind this, which has the time of the current batch if both share it.
   *
   * @param table goes to the batch
   */
  protected final ColumnBatch nextBatch(Table table) {
    return stateTtl().isOfBatches() && clock instanceof BatchClock batches
        ? ColumnBatch.atProcessingTime(table, batches.time())
        : new ColumnBatch(table);
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    DeviceContext device = openDeviceContext();
    Map<String, StateSchema> schemas = new LinkedHashMap<>();
    schemas.put(KeyedStates.UNNAMED, stateSchema());
    schemas.putAll(furtherStateSchemas());
    states = new KeyedStates(schemas, device.stream(), device.resource());
    checkpoints = new IncrementalCheckpoints();
    LayeredOptions options = LayeredOptions.of(this);
    isIncremental = options.get(CheckpointingOptions.INCREMENTAL_CHECKPOINTS);
    isCompressed = options.get(ExecutionOptions.SNAPSHOT_COMPRESSION);
    clock = newClock(context);
    long timeToLive = stateTtl().toMillis();
    StateMetrics.register(getMetricGroup(), states, timeToLive);
    sweeps = new HashMap<>();
    long begin = clock.now().now();
    states
        .all()
        .forEach(
            (name, state) ->
                sweeps.put(name, new StateSweep(state, device.retry(), timeToLive, begin)));
    compactions = new HashMap<>();
    states
        .all()
        .forEach(
            (name, state) ->
                StateCompaction.ofKeys(state, device)
                    .ifPresent(compaction -> compactions.put(name, compaction)));
    if (context.isRestored()) {
      restore();
    }
  }

  private ExpiryClock newClock(StateInitializationContext context) throws Exception {
    StateTtl ttl = stateTtl();
    OperatorStateStore store = context.getOperatorStateStore();
    if (ttl.isEventTime()) {
      BatchClock.forget(store);
      return new WatermarkClock(ttl.toMillis(), context);
    }
    WatermarkClock.forget(store);
    if (ttl.isNone()) {
      BatchClock.forget(store);
    }
    // The store has one where the operators in front of this are gone.
    boolean goesOn = !ttl.isNone() && BatchClock.isIn(store);
    return ttl.isOfBatches() || goesOn
        ? new BatchClock(ttl.toMillis(), context)
        : ExpiryClock.ofMachine(getProcessingTimeService(), ttl.toMillis());
  }

  // Flink gives keyed state to operators with a keyed state backend only, and this has none.
  private void restore() throws Exception {
    KeyGroupFilter filter =
        new KeyGroupFilter(
            getRuntimeContext().getTaskInfo(), exchangeKeys(), keyHash, deviceContext());
    StateReader reader =
        new StateReader(
            states, filter, clock.now(), deviceContext(), getContainingTask().getCancelables());
    PrioritizedOperatorSubtaskState restored =
        getContainingTask()
            .getEnvironment()
            .getTaskStateManager()
            .prioritizedOperatorState(getOperatorID());
    List<KeyedStateHandle> parts = new ArrayList<>();
    restored.getJobManagerRawKeyedState().forEach(parts::add);
    restored.getJobManagerManagedKeyedState().forEach(parts::add);
    restore(parts, reader::read);
  }

  /** Reads a part of a checkpoint. */
  @FunctionalInterface
  protected interface PartReader {
    /**
     * Adds the rows of the subtask's key groups to the states.
     *
     * @throws IOException if the part is damaged, does not fit the states, or cannot be read
     */
    void read(KeyedStateHandle part) throws IOException;
  }

  /**
   * Restores the parts of a checkpoint, each of which one subtask wrote. The states are there, and
   * empty. An operator may need the parts in an order of its own.
   */
  protected void restore(List<KeyedStateHandle> parts, PartReader reader) throws Exception {
    for (KeyedStateHandle part : parts) {
      reader.read(part);
    }
  }

  /**
   * Does what is due at a watermark, in front of it. Updates have the time of the watermark, but
   * rows that it lets expire are still there.
   */
  protected void beforeWatermark(Watermark mark) {}

  /** Removes expired rows, if they expire by event time, and forwards {@code mark}. */
  @Override
  public void processWatermark(Watermark mark) throws Exception {
    if (stateTtl().isEventTime()) {
      long oldest = clock.now().oldest();
      clock.advance(mark.getTimestamp());
      watermarkTime = new UpdateTime(clock.now().now(), oldest);
    }
    beforeWatermark(mark);
    watermarkTime = null;
    if (stateTtl().isEventTime()) {
      UpdateTime time = clock.now();
      sweeps.values().forEach(sweep -> sweep.advance(time));
    }
    super.processWatermark(mark);
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    clock.snapshot();
  }

  @Override
  public final OperatorSnapshotFutures snapshotState(
      long checkpointId, long timestamp, CheckpointOptions options, CheckpointStreamFactory streams)
      throws Exception {
    OperatorSnapshotFutures futures =
        super.snapshotState(checkpointId, timestamp, options, streams);
    try {
      SharingFilesStrategy sharing = options.getCheckpointType().getSharingFilesStrategy();
      if (isIncremental && sharing != SharingFilesStrategy.NO_SHARING) {
        boolean refers = sharing == SharingFilesStrategy.FORWARD_BACKWARD;
        PageIndex base = refers ? checkpoints.completed() : PageIndex.EMPTY;
        futures.setKeyedStateManagedFuture(incrementalFuture(checkpointId, base, streams));
      } else {
        futures.setKeyedStateRawFuture(
            future(
                (rows, context) ->
                    new StateWriter(rows, keyGroups(), context, streams, isCompressed)));
      }
      return futures;
    } catch (Exception | Error e) {
      try {
        futures.cancel();
      } catch (Exception canceled) {
        e.addSuppressed(canceled);
      }
      throw e;
    }
  }

  private RunnableFuture<SnapshotResult<KeyedStateHandle>> incrementalFuture(
      long checkpointId, PageIndex base, CheckpointStreamFactory streams) throws IOException {
    Target target =
        new Target(
            checkpoints.writerId(),
            checkpointId,
            keyGroups(),
            streams,
            isCompressed,
            index -> checkpoints.written(checkpointId, index));
    return future((rows, context) -> new IncrementalStateWriter(rows, base, target, context));
  }

  private RunnableFuture<SnapshotResult<KeyedStateHandle>> future(
      BiFunction<
              KeyedStates.Snapshot,
              DeviceContext,
              AsyncSnapshotCallable<SnapshotResult<KeyedStateHandle>>>
          writer)
      throws IOException {
    KeyedStates.Snapshot snapshot = deviceContext().retry().withHostRetry(states::snapshot);
    try {
      return writer
          .apply(snapshot, deviceContext().share())
          .toAsyncSnapshotFutureTask(getContainingTask().getCancelables());
    } catch (IOException | RuntimeException | Error e) {
      snapshot.close();
      throw e;
    }
  }

  /** The key groups of this subtask. */
  protected final KeyGroupRange keyGroups() {
    TaskInfo task = getRuntimeContext().getTaskInfo();
    return KeyGroupRangeAssignment.computeKeyGroupRangeForOperatorIndex(
        task.getMaxNumberOfParallelSubtasks(),
        task.getNumberOfParallelSubtasks(),
        task.getIndexOfThisSubtask());
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) throws Exception {
    super.notifyCheckpointComplete(checkpointId);
    checkpoints.complete(checkpointId);
  }

  @Override
  public void notifyCheckpointAborted(long checkpointId) throws Exception {
    super.notifyCheckpointAborted(checkpointId);
    checkpoints.abort(checkpointId);
  }

  @Override
  public void close() throws Exception {
    IOUtils.closeAll(states, super::close);
  }
}
