// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionAssigner;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.operators.state.KeyedOperatorHarness;
import io.millrace.operators.window.WindowHarness.Job;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;

/** All subtasks of a {@link WindowAggregateOperator}, behind an exchange by key. */
final class WindowSubtasks implements AutoCloseable {
  private final DeviceExtension device;
  private final Job job;
  private final List<WindowHarness> subtasks = new ArrayList<>();

  private WindowSubtasks(DeviceExtension device, Job job) {
    this.device = device;
    this.job = job;
  }

  /** A checkpoint of all subtasks. */
  record Snapshot(OperatorSubtaskState state, int parallelism) {}

  /**
   * Subtasks.
   *
   * @param snapshot null for empty state
   */
  static WindowSubtasks open(DeviceExtension device, Job job, int parallelism, Snapshot snapshot)
      throws Exception {
    WindowSubtasks opened = new WindowSubtasks(device, job);
    try {
      for (int subtask = 0; subtask < parallelism; subtask++) {
        OperatorSubtaskState state =
            snapshot == null
                ? null
                : AbstractStreamOperatorTestHarness.repartitionOperatorState(
                    snapshot.state,
                    KeyedOperatorHarness.MAX_PARALLELISM,
                    snapshot.parallelism,
                    parallelism,
                    subtask);
        opened.subtasks.add(job.restore(device, subtask, parallelism, state));
      }
      return opened;
    } catch (Exception | Error e) {
      opened.close();
      throw e;
    }
  }

  /** Sends each row of a batch to the subtask that owns its key. */
  void send(List<? extends List<?>> rows) throws Exception {
    Schema schema = job.schema();
    try (Table batch = TableBuilder.ofRows(schema, rows).build(device);
        PartitionedTable parts =
            HashPartition.hashPartition(
                batch,
                job.keys().stream().map(schema::indexOf).toList(),
                PartitionAssigner.subtasks(KeyedOperatorHarness.MAX_PARALLELISM, subtasks.size()),
                HashFunction.FLINK_JAVA,
                device.stream(),
                device.memory())) {
      for (int i = 0; i < subtasks.size(); i++) {
        subtasks.get(i).send(0, parts.partition(i));
      }
    }
  }

  /** Sends a watermark to each subtask and returns the rows that come out. */
  List<String> results(long watermark) throws Exception {
    List<String> results = new ArrayList<>();
    for (WindowHarness subtask : subtasks) {
      results.addAll(subtask.results(watermark));
    }
    return results;
  }

  /** Sets the clock of each subtask and returns the rows that come out. */
  List<String> resultsAt(long processingTime) throws Exception {
    List<String> results = new ArrayList<>();
    for (WindowHarness subtask : subtasks) {
      results.addAll(subtask.resultsAt(processingTime));
    }
    return results;
  }

  /** Sends a watermark to one subtask and returns the rows that come out. */
  List<String> resultsOf(int subtask, long watermark) throws Exception {
    return subtasks.get(subtask).results(watermark);
  }

  /**
   * Takes a checkpoint whose barrier comes to the subtasks one after the other.
   *
   * @param barriers the clock at the barrier of each subtask
   * @param results takes the rows that come out before the barrier
   */
  Snapshot snapshotAt(long[] barriers, List<String> results) throws Exception {
    for (int i = 0; i < barriers.length; i++) {
      results.addAll(subtasks.get(i).resultsAt(barriers[i]));
    }
    Snapshot snapshot = snapshot();
    subtasks.forEach(subtask -> results.addAll(subtask.takeResults()));
    return snapshot;
  }

  long lateRowsDropped() {
    return subtasks.stream().mapToLong(WindowHarness::lateRowsDropped).sum();
  }

  /** Whether rows of a subtask are in its buffer. */
  boolean isBuffered() {
    return subtasks.stream().anyMatch(WindowHarness::isBuffered);
  }

  Snapshot snapshot() throws Exception {
    OperatorSubtaskState[] states = new OperatorSubtaskState[subtasks.size()];
    for (int i = 0; i < states.length; i++) {
      subtasks.get(i).prepareSnapshot();
      states[i] = subtasks.get(i).snapshot();
    }
    return new Snapshot(AbstractStreamOperatorTestHarness.repackageState(states), states.length);
  }

  @Override
  public void close() {
    subtasks.forEach(WindowHarness::close);
  }
}
