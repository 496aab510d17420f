// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.OperatorHarness;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import io.millrace.state.StateTable;
import io.millrace.testing.DeviceExtension;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SnapshotType;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.metrics.groups.InternalOperatorMetricGroup;
import org.apache.flink.runtime.metrics.util.InterceptingOperatorMetricGroup;
import org.apache.flink.runtime.metrics.util.InterceptingTaskMetricGroup;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.state.CheckpointStorageLocationReference;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFinalizer;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;

/** A subtask of an operator with keyed state, which is checkpointed and restored. */
public class KeyedOperatorHarness extends OperatorHarness {
  /** The number of key groups. */
  public static final int MAX_PARALLELISM = 16;

  private static final int MAX_STATE_BYTES = 256 << 20;

  private final DeviceExtension device;
  private final MockEnvironment environment;
  private int taken;
  private long checkpoints;

  /**
   * A subtask that is not started.
   *
   * @param input the columns of its batches
   */
  protected KeyedOperatorHarness(
      DeviceExtension device,
      Schema input,
      Schema output,
      OneInputStreamOperatorFactory<ColumnBatch, ColumnBatch> factory,
      MockEnvironment environment)
      throws Exception {
    super(device, input, flinkHarness(input, output, factory, environment));
    this.device = device;
    this.environment = environment;
  }

  private static OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> flinkHarness(
      Schema input,
      Schema output,
      OneInputStreamOperatorFactory<ColumnBatch, ColumnBatch> factory,
      MockEnvironment environment)
      throws Exception {
    OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness =
        new OneInputStreamOperatorTestHarness<>(
            factory, new ColumnBatchSerializer(input, BodyCodec.RAW), environment);
    harness
        .getStreamConfig()
        .setTypeSerializerOut(new ColumnBatchSerializer(output, BodyCodec.RAW));
    harness.getStreamConfig().setOperatorID(new OperatorID(1, 1));
    harness.getStreamConfig().serializeAllConfigs();
    return harness;
  }

  /**
   * The environment of a subtask.
   *
   * @param options of the TaskManager
   */
  protected static MockEnvironment environment(
      int subtask, int parallelism, Map<String, String> options) {
    return new MockEnvironmentBuilder()
        .setTaskName("keyed")
        .setMaxParallelism(MAX_PARALLELISM)
        .setParallelism(parallelism)
        .setSubtaskIndex(subtask)
        .setMetricGroup(new RecordingTaskMetrics())
        .setTaskManagerRuntimeInfo(
            new TestingTaskManagerRuntimeInfo(Configuration.fromMap(options)))
        .build();
  }

  /** Keeps the metrics of its operators. */
  private static final class RecordingTaskMetrics extends InterceptingTaskMetricGroup {
    @Override
    public InternalOperatorMetricGroup getOrAddOperator(
        OperatorID id, String name, Map<String, String> variables) {
      return new InterceptingOperatorMetricGroup();
    }
  }

  /** The value of a counter of the operator. */
  protected final long counter(String name) {
    InterceptingOperatorMetricGroup metrics =
        (InterceptingOperatorMetricGroup) harness().getOperator().getMetricGroup();
    return ((Counter) metrics.get(name)).getCount();
  }

  /**
   * Starts the subtask.
   *
   * @param state its part of a checkpoint; null to start without a checkpoint
   */
  protected final void start(OperatorSubtaskState state) throws Exception {
    try {
      harness().setup();
      if (state == null) {
        harness().initializeEmptyState();
      } else {
        harness().initializeState(state);
      }
      harness().open();
    } catch (Exception | Error e) {
      close();
      throw e;
    }
  }

  /** Begins a checkpoint: the synchronous part alone. */
  public OperatorSnapshotFutures beginSnapshot() throws Exception {
    return beginSnapshot(new MemCheckpointStreamFactory(MAX_STATE_BYTES));
  }

  /** As {@link #beginSnapshot()}, to streams of {@code streams}. */
  public OperatorSnapshotFutures beginSnapshot(CheckpointStreamFactory streams) throws Exception {
    return beginSnapshot(++checkpoints, CheckpointType.CHECKPOINT, streams);
  }

  /** As {@link #beginSnapshot()}, of a checkpoint or savepoint with this number. */
  public OperatorSnapshotFutures beginSnapshot(
      long checkpoint, SnapshotType type, CheckpointStreamFactory streams) throws Exception {
    CheckpointOptions options =
        new CheckpointOptions(type, CheckpointStorageLocationReference.getDefault());
    return harness().getOperator().snapshotState(checkpoint, checkpoint, options, streams);
  }

  /** The number of the last checkpoint that was begun without a number. */
  public long lastCheckpoint() {
    return checkpoints;
  }

  /** Tells the operator that a checkpoint has completed. */
  public void notifyComplete(long checkpoint) throws Exception {
    harness().getOperator().notifyCheckpointComplete(checkpoint);
  }

  /** Tells the operator that a checkpoint will not complete. */
  public void notifyAborted(long checkpoint) throws Exception {
    harness().getOperator().notifyCheckpointAborted(checkpoint);
  }

  /** Ends a checkpoint on the calling thread. */
  public static OperatorSubtaskState write(OperatorSnapshotFutures snapshot) throws Exception {
    return OperatorSnapshotFinalizer.create(snapshot).getJobManagerOwnedState();
  }

  /** What the operator does before the barrier of a checkpoint goes on. */
  public void prepareSnapshot() throws Exception {
    harness().prepareSnapshotPreBarrier(checkpoints + 1);
  }

  /** A whole checkpoint. */
  public OperatorSubtaskState snapshot() throws Exception {
    return write(beginSnapshot());
  }

  /** Closes the operator before its task ends. */
  public void closeOperator() throws Exception {
    harness().getOperator().close();
  }

  /** What a canceled task closes. */
  public CloseableRegistry cancelables() {
    return harness().getOperator().getContainingTask().getCancelables();
  }

  /** Sets the machine's clock, in milliseconds since the epoch. */
  public final void setProcessingTime(long time) throws Exception {
    harness().setProcessingTime(time);
  }

  /** The number of rows in the operator's state. */
  public final long rowsInState() {
    return operator().states().rowCount();
  }

  /** The rows of the only table of a state, as {@link StateTable#values} gives them. */
  public final List<List<Object>> valuesInState(String name) {
    StateTable table = operator().states().get(name).all().get(StateTables.ONLY);
    try (Table values = table.values(0, (int) table.rowCount(), List.of())) {
      return device.rows(values);
    }
  }

  /** The number of tables in the operator's state. */
  public final int tablesInState() {
    return operator().states().all().values().stream().mapToInt(state -> state.all().size()).sum();
  }

  /** The number of rows that the operator removed from its state since they had expired. */
  public final long expiredRows() {
    return operator().states().expiredRows();
  }

  private KeyedStateOperator operator() {
    return (KeyedStateOperator) harness().getOperator();
  }

  public void watermark(long timestamp) throws Exception {
    harness().processWatermark(timestamp);
  }

  /** The operator's {@code numRecordsOut} in a job, where Flink counts one for each batch. */
  public long recordsOut() {
    long counted =
        harness()
            .getOperator()
            .getMetricGroup()
            .getIOMetricGroup()
            .getNumRecordsOutCounter()
            .getCount();
    return counted + batches().size();
  }

  @Override
  public void close() {
    super.close();
    try {
      environment.close();
    } catch (Exception e) {
      throw new IllegalStateException("the task's resources cannot be closed", e);
    }
  }

  /** The rows that came out since the last call. */
  public final List<List<Object>> takeRows() {
    List<List<Object>> rows = rows();
    List<List<Object>> latest = rows.subList(taken, rows.size());
    taken = rows.size();
    return latest;
  }
}
