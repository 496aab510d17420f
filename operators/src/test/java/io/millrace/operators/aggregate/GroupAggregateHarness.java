// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import io.millrace.column.Schema;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.OperatorHarness;
import io.millrace.operators.wire.BodyCodec;
import io.millrace.operators.wire.ColumnBatchSerializer;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.CloseableRegistry;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.runtime.operators.testutils.MockEnvironmentBuilder;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.memory.MemCheckpointStreamFactory;
import org.apache.flink.runtime.util.TestingTaskManagerRuntimeInfo;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFinalizer;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.util.OneInputStreamOperatorTestHarness;
import org.apache.flink.types.RowKind;

/** A subtask of a {@link GroupAggregateOperator} that gets batches and emits changes as text. */
public final class GroupAggregateHarness extends OperatorHarness {
  /** The number of key groups. */
  public static final int MAX_PARALLELISM = 16;

  private static final int MAX_STATE_BYTES = 256 << 20;

  private final MockEnvironment environment;
  private int taken;
  private long checkpoints;

  private GroupAggregateHarness(DeviceExtension device, Job job, MockEnvironment environment)
      throws Exception {
    super(device, job.schema, job.flinkHarness(environment));
    this.environment = environment;
  }

  /**
   * The job that the subtask is part of.
   *
   * @param options of the TaskManager
   */
  public record Job(
      Schema schema, List<String> keys, List<Aggregate> aggregates, Map<String, String> options) {

    public Job(Schema schema, List<String> keys, Aggregate... aggregates) {
      this(schema, keys, List.of(aggregates), Map.of());
    }

    public Job withOptions(Map<String, String> newOptions) {
      return new Job(schema, keys, aggregates, newOptions);
    }

    public Job withAggregates(Aggregate... newAggregates) {
      return new Job(schema, keys, List.of(newAggregates), options);
    }

    GroupAggregatePlan plan() {
      return new GroupAggregatePlan(schema, keys, aggregates, ExpressionSettings.DEFAULT);
    }

    private OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> flinkHarness(
        MockEnvironment environment) throws Exception {
      OneInputStreamOperatorTestHarness<ColumnBatch, ColumnBatch> harness =
          new OneInputStreamOperatorTestHarness<>(
              GroupAggregateOperator.factory(plan()),
              new ColumnBatchSerializer(schema, BodyCodec.RAW),
              environment);
      harness
          .getStreamConfig()
          .setStatePartitioner(
              0,
              batch -> {
                throw new IllegalStateException("a batch has no single key");
              });
      harness.getStreamConfig().setStateKeySerializer(IntSerializer.INSTANCE);
      harness
          .getStreamConfig()
          .setTypeSerializerOut(new ColumnBatchSerializer(plan().outputSchema(), BodyCodec.RAW));
      harness.getStreamConfig().setOperatorID(new OperatorID(1, 1));
      harness.getStreamConfig().serializeAllConfigs();
      return harness;
    }

    /** The only subtask, with empty state. */
    public GroupAggregateHarness open(DeviceExtension device) throws Exception {
      return restore(device, null);
    }

    /** The only subtask, with the state of a checkpoint. */
    public GroupAggregateHarness restore(DeviceExtension device, OperatorSubtaskState state)
        throws Exception {
      return restore(device, 0, 1, state);
    }

    /**
     * A subtask.
     *
     * @param state its part of a checkpoint; null to start without a checkpoint
     */
    public GroupAggregateHarness restore(
        DeviceExtension device, int subtask, int parallelism, OperatorSubtaskState state)
        throws Exception {
      MockEnvironment environment =
          new MockEnvironmentBuilder()
              .setTaskName("aggregate")
              .setMaxParallelism(MAX_PARALLELISM)
              .setParallelism(parallelism)
              .setSubtaskIndex(subtask)
              .setTaskManagerRuntimeInfo(
                  new TestingTaskManagerRuntimeInfo(Configuration.fromMap(options)))
              .build();
      GroupAggregateHarness harness = new GroupAggregateHarness(device, this, environment);
      try {
        harness.harness().setup();
        if (state == null) {
          harness.harness().initializeEmptyState();
        } else {
          harness.harness().initializeState(state);
        }
        harness.harness().open();
        return harness;
      } catch (Exception | Error e) {
        harness.close();
        throw e;
      }
    }
  }

  /** Sends a batch and returns the changes that it makes. */
  public List<String> changes(List<?>... rows) throws Exception {
    send(0, List.of(rows));
    return takeChanges();
  }

  /** The changes since the last call, such as {@code +I[1, 20]}. */
  public List<String> takeChanges() {
    List<String> changes = new ArrayList<>();
    for (List<Object> row : takeRows()) {
      int last = row.size() - 1;
      RowKind kind = RowKind.fromByteValue((Byte) row.get(last));
      changes.add(kind.shortString() + row.subList(0, last));
    }
    return changes;
  }

  /** The rows since the last call, with their kinds. */
  public List<List<Object>> takeRows() {
    List<List<Object>> rows = rows();
    List<List<Object>> latest = rows.subList(taken, rows.size());
    taken = rows.size();
    return latest;
  }

  /** Begins a checkpoint: the synchronous part alone. */
  public OperatorSnapshotFutures beginSnapshot() throws Exception {
    return beginSnapshot(new MemCheckpointStreamFactory(MAX_STATE_BYTES));
  }

  /** As {@link #beginSnapshot()}, to streams of {@code streams}. */
  public OperatorSnapshotFutures beginSnapshot(CheckpointStreamFactory streams) throws Exception {
    checkpoints++;
    return harness()
        .getOperator()
        .snapshotState(
            checkpoints,
            checkpoints,
            CheckpointOptions.forCheckpointWithDefaultLocation(),
            streams);
  }

  /** Ends a checkpoint on the calling thread. */
  public static OperatorSubtaskState write(OperatorSnapshotFutures snapshot) throws Exception {
    return OperatorSnapshotFinalizer.create(snapshot).getJobManagerOwnedState();
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
}
