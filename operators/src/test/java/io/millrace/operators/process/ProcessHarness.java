// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionAssigner;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.operators.state.KeyedOperatorHarness;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.operators.testutils.MockEnvironment;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;

/** A subtask of a {@link ProcessOperator} that gets batches. */
final class ProcessHarness extends KeyedOperatorHarness {
  private final Schema schema;

  private ProcessHarness(
      DeviceExtension device, Schema schema, ProcessPlan plan, MockEnvironment environment)
      throws Exception {
    super(device, schema, plan.outputSchema(), ProcessOperator.factory(plan), environment);
    this.schema = schema;
  }

  /** The job that the subtask is part of; its key columns are the first. */
  record Job(Schema schema, List<String> keys, KeyedBatchFunction function, Duration stateTtl) {

    Job(Schema schema, List<String> keys, KeyedBatchFunction function) {
      this(schema, keys, function, Duration.ZERO);
    }

    ProcessPlan plan() {
      return new ProcessPlan(schema, keys, function, stateTtl);
    }

    /** The only subtask, with empty state. */
    ProcessHarness open(DeviceExtension device) throws Exception {
      return restore(device, 0, 1, null);
    }

    /**
     * A subtask.
     *
     * @param state its part of a checkpoint; null to start without a checkpoint
     */
    ProcessHarness restore(
        DeviceExtension device, int subtask, int parallelism, OperatorSubtaskState state)
        throws Exception {
      ProcessHarness harness =
          new ProcessHarness(device, schema, plan(), environment(subtask, parallelism, Map.of()));
      harness.start(state);
      return harness;
    }
  }

  /** The part of a checkpoint of all subtasks that a subtask gets; null if there is none. */
  static OperatorSubtaskState part(
      OperatorSubtaskState checkpoint, int before, int parallelism, int subtask) {
    return checkpoint == null
        ? null
        : AbstractStreamOperatorTestHarness.repartitionOperatorState(
            checkpoint, MAX_PARALLELISM, before, parallelism, subtask);
  }

  /** A checkpoint of all subtasks. */
  static OperatorSubtaskState snapshot(List<ProcessHarness> subtasks) throws Exception {
    OperatorSubtaskState[] states = new OperatorSubtaskState[subtasks.size()];
    for (int subtask = 0; subtask < states.length; subtask++) {
      states[subtask] = subtasks.get(subtask).snapshot();
    }
    return AbstractStreamOperatorTestHarness.repackageState(states);
  }

  /** Sends each row to the subtask of its key, the first column; returns the rows that come out. */
  static List<List<Object>> results(
      List<ProcessHarness> subtasks, List<List<Object>> rows, DeviceExtension device)
      throws Exception {
    List<List<Object>> results = new ArrayList<>();
    try (Table batch = TableBuilder.ofRows(subtasks.get(0).schema, rows).build(device);
        PartitionedTable parts =
            HashPartition.hashPartition(
                batch,
                List.of(0),
                PartitionAssigner.subtasks(MAX_PARALLELISM, subtasks.size()),
                HashFunction.FLINK_JAVA,
                device.stream(),
                device.memory())) {
      for (int i = 0; i < subtasks.size(); i++) {
        subtasks.get(i).send(0, parts.partition(i));
        results.addAll(subtasks.get(i).takeRows());
      }
    }
    return results;
  }

  /** Sends a batch and returns the rows that come out, as text. */
  List<String> results(List<?>... rows) throws Exception {
    send(0, List.of(rows));
    return takeTexts();
  }

  /** The rows since the last call, such as {@code [1, a]}. */
  List<String> takeTexts() {
    return takeRows().stream().map(List::toString).toList();
  }
}
