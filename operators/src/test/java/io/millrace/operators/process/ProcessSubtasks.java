// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import io.millrace.column.Table;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionAssigner;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.operators.process.ProcessHarness.Job;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;

/** All subtasks of a job, each of which gets the rows of its keys. */
final class ProcessSubtasks implements AutoCloseable {
  private final Job job;
  private final DeviceExtension device;
  private final List<ProcessHarness> subtasks = new ArrayList<>();

  private ProcessSubtasks(Job job, DeviceExtension device) {
    this.job = job;
    this.device = device;
  }

  /**
   * The subtasks of a job.
   *
   * @param before the parallelism that {@code state} was taken with
   * @param state of {@link #snapshot}; null to start without a checkpoint
   */
  static ProcessSubtasks restore(
      Job job, DeviceExtension device, int parallelism, int before, OperatorSubtaskState state)
      throws Exception {
    ProcessSubtasks all = new ProcessSubtasks(job, device);
    try {
      for (int subtask = 0; subtask < parallelism; subtask++) {
        OperatorSubtaskState part =
            state == null
                ? null
                : AbstractStreamOperatorTestHarness.repartitionOperatorState(
                    state, ProcessHarness.MAX_PARALLELISM, before, parallelism, subtask);
        all.subtasks.add(job.restore(device, subtask, parallelism, part));
      }
      return all;
    } catch (Exception | Error e) {
      all.close();
      throw e;
    }
  }

  /** Sends rows, whose first column is the key, and returns those that come out. */
  List<List<Object>> results(List<List<Object>> rows) throws Exception {
    List<List<Object>> results = new ArrayList<>();
    try (Table batch = TableBuilder.ofRows(job.schema(), rows).build(device);
        PartitionedTable parts =
            HashPartition.hashPartition(
                batch,
                List.of(0),
                PartitionAssigner.subtasks(ProcessHarness.MAX_PARALLELISM, subtasks.size()),
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

  /** Sets the clock of all subtasks and returns the rows that come out. */
  List<List<Object>> setProcessingTime(long now) throws Exception {
    List<List<Object>> results = new ArrayList<>();
    for (ProcessHarness subtask : subtasks) {
      subtask.setProcessingTime(now);
      results.addAll(subtask.takeRows());
    }
    return results;
  }

  /** Sends a watermark to all subtasks. */
  void watermark(long timestamp) throws Exception {
    for (ProcessHarness subtask : subtasks) {
      subtask.watermark(timestamp);
    }
  }

  /** The rows in the state of all subtasks. */
  long rowsInState() {
    return subtasks.stream().mapToLong(ProcessHarness::rowsInState).sum();
  }

  /** A checkpoint of all subtasks. */
  OperatorSubtaskState snapshot() throws Exception {
    OperatorSubtaskState[] states = new OperatorSubtaskState[subtasks.size()];
    for (int subtask = 0; subtask < states.length; subtask++) {
      states[subtask] = subtasks.get(subtask).snapshot();
    }
    return AbstractStreamOperatorTestHarness.repackageState(states);
  }

  @Override
  public void close() {
    subtasks.forEach(ProcessHarness::close);
  }
}
