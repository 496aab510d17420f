// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionAssigner;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.testing.OperatorHarness;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.SharedStateRegistry;
import org.apache.flink.runtime.state.SharedStateRegistryImpl;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.types.RowKind;

/**
 * All subtasks of a {@link GroupAggregateOperator}, behind an exchange by key. Applies the changes
 * that come out, and checks that each fits the rows before it.
 */
public final class GroupAggregateSubtasks implements AutoCloseable {
  private final DeviceExtension device;
  private final Job job;
  private final Map<List<Object>, List<Object>> results;
  private final List<GroupAggregateHarness> subtasks = new ArrayList<>();
  // null if there is one phase.
  private final OperatorHarness firstPhase;
  private final SharedStateRegistry registry = new SharedStateRegistryImpl();

  private GroupAggregateSubtasks(
      DeviceExtension device, Job job, Map<List<Object>, List<Object>> results) throws Exception {
    this.firstPhase = job.isTwoPhase() ? job.openFirstPhase(device) : null;
    this.device = device;
    this.job = job;
    this.results = results;
  }

  /** Subtasks with empty state. */
  public static GroupAggregateSubtasks open(DeviceExtension device, Job job, int parallelism)
      throws Exception {
    GroupAggregateSubtasks opened = new GroupAggregateSubtasks(device, job, new HashMap<>());
    opened.openEach(parallelism, null);
    return opened;
  }

  private void openEach(int parallelism, Snapshot snapshot) throws Exception {
    try {
      for (int subtask = 0; subtask < parallelism; subtask++) {
        OperatorSubtaskState state = snapshot == null ? null : snapshot.part(subtask, parallelism);
        subtasks.add(job.restore(device, subtask, parallelism, state));
      }
    } catch (Exception | Error e) {
      close();
      throw e;
    }
  }

  /** A checkpoint, and the results at its moment. */
  public record Snapshot(
      OperatorSubtaskState state, int parallelism, Map<List<Object>, List<Object>> results) {

    private OperatorSubtaskState part(int subtask, int newParallelism) {
      return AbstractStreamOperatorTestHarness.repartitionOperatorState(
          state, GroupAggregateHarness.MAX_PARALLELISM, parallelism, newParallelism, subtask);
    }
  }

  public int parallelism() {
    return subtasks.size();
  }

  /** The subtasks with the state of {@code snapshot}. */
  public static GroupAggregateSubtasks restore(
      DeviceExtension device, Job job, Snapshot snapshot, int parallelism) throws Exception {
    GroupAggregateSubtasks restored =
        new GroupAggregateSubtasks(device, job, new HashMap<>(snapshot.results));
    restored.openEach(parallelism, snapshot);
    return restored;
  }

  /**
   * Sends each row of a batch to the subtask that owns its key. With two phases, the first one gets
   * the batch in two parts, whose results are one batch.
   */
  public void send(List<? extends List<?>> rows) throws Exception {
    if (firstPhase == null) {
      exchange(rows);
      return;
    }
    int sent = firstPhase.rows().size();
    firstPhase.send(0, rows.subList(0, rows.size() / 3));
    firstPhase.send(0, rows.subList(rows.size() / 3, rows.size()));
    List<List<Object>> partials = firstPhase.rows();
    exchange(partials.subList(sent, partials.size()));
  }

  private void exchange(List<? extends List<?>> rows) throws Exception {
    Schema schema = job.batchSchema();
    try (Table batch = TableBuilder.ofRows(schema, rows).build(device);
        PartitionedTable parts =
            HashPartition.hashPartition(
                batch,
                job.keys().stream().map(schema::indexOf).toList(),
                PartitionAssigner.subtasks(GroupAggregateHarness.MAX_PARALLELISM, subtasks.size()),
                job.keyHash(),
                device.stream(),
                device.memory())) {
      for (int i = 0; i < subtasks.size(); i++) {
        subtasks.get(i).send(0, parts.partition(i));
        subtasks.get(i).takeRows().forEach(this::apply);
      }
    }
  }

  private void apply(List<Object> change) {
    int keys = job.keys().size();
    List<Object> key = change.subList(0, keys);
    List<Object> row = change.subList(keys, change.size() - 1);
    switch (RowKind.fromByteValue((Byte) change.get(change.size() - 1))) {
      case INSERT ->
          assertThat(results.put(key, row)).as("row before insertion of %s", key).isNull();
      case UPDATE_BEFORE -> assertThat(results.get(key)).as("row before update").isEqualTo(row);
      case UPDATE_AFTER -> assertThat(results.put(key, row)).as("updated row").isNotNull();
      case DELETE -> assertThat(results.remove(key)).as("deleted row").isEqualTo(row);
    }
  }

  /** The results of each key that is present. */
  public Map<List<Object>, List<Object>> results() {
    return results;
  }

  /** A checkpoint of all subtasks, which completes. */
  public Snapshot snapshot() throws Exception {
    OperatorSubtaskState[] states = new OperatorSubtaskState[subtasks.size()];
    for (int i = 0; i < states.length; i++) {
      states[i] = subtasks.get(i).snapshot();
    }
    OperatorSubtaskState whole = AbstractStreamOperatorTestHarness.repackageState(states);
    whole.registerSharedStates(registry, subtasks.get(0).lastCheckpoint());
    for (GroupAggregateHarness subtask : subtasks) {
      subtask.notifyComplete(subtask.lastCheckpoint());
    }
    return new Snapshot(whole, subtasks.size(), Map.copyOf(results));
  }

  @Override
  public void close() {
    if (firstPhase != null) {
      firstPhase.close();
    }
    subtasks.forEach(GroupAggregateHarness::close);
  }
}
