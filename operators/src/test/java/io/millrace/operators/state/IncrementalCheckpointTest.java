// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.GroupAggregateHarness;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.IncrementalRemoteKeyedStateHandle;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(NothingHeldExtension.class)
class IncrementalCheckpointTest {
  private static final Schema SCHEMA =
      Schema.of(new Field("key", DataType.INT64, false), new Field("value", DataType.INT64, false));
  private static final Job JOB =
      new Job(SCHEMA, List.of("key"), count(), sum("value"))
          .withOptions(Map.of("execution.checkpointing.incremental", "true"));
  private static final int PAGE_ROWS = 8192;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @TempDir Path temporary;

  private static List<List<Object>> rows(long from, long to, long value) {
    List<List<Object>> rows = new ArrayList<>();
    for (long key = from; key < to; key++) {
      rows.add(List.of(key, value));
    }
    return rows;
  }

  private static OperatorSubtaskState take(
      GroupAggregateHarness harness, CheckpointFolder folder, long checkpoint) throws Exception {
    OperatorSubtaskState state =
        GroupAggregateHarness.write(
            harness.beginSnapshot(
                checkpoint, CheckpointType.CHECKPOINT, folder.streams(checkpoint)));
    folder.complete(checkpoint, state);
    harness.notifyComplete(checkpoint);
    return state;
  }

  private static IncrementalRemoteKeyedStateHandle handle(OperatorSubtaskState state) {
    return (IncrementalRemoteKeyedStateHandle) state.getManagedKeyedState().iterator().next();
  }

  @OutOfMemoryTest(attempts = 1)
  void pagesThatDidNotChangeAreNotWrittenAgain() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    OperatorSubtaskState first;
    OperatorSubtaskState second;
    OperatorSubtaskState third;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(1, rows(0, 5 * PAGE_ROWS, 1));
      first = take(harness, folder, 1);
      harness.send(2, rows(PAGE_ROWS, PAGE_ROWS + 1, 10));
      second = take(harness, folder, 2);
      harness.send(3, rows(5 * PAGE_ROWS - 1, 5 * PAGE_ROWS + 1, 100));
      third = take(harness, folder, 3);
      harness.send(4, rows(0, 6 * PAGE_ROWS, 1000));
    }
    long page = 32 * PAGE_ROWS;
    assertThat(handle(first).getCheckpointedSize()).isBetween(5 * page, 5 * page + 1000);
    assertThat(handle(second).getCheckpointedSize()).isBetween(page, page + 1000);
    assertThat(handle(third).getCheckpointedSize()).isBetween(page, page + 1000);
    assertThat(handle(third).getStateSize()).isBetween(7 * page, 7 * page + 2000);
    try (GroupAggregateHarness harness = JOB.restore(device, first)) {
      assertThat(harness.changes(List.of((long) PAGE_ROWS, 1L), List.of(5L * PAGE_ROWS, 1L)))
          .containsExactly("-U[8192, 1, 1]", "+U[8192, 2, 2]", "+I[40960, 1, 1]");
    }
    try (GroupAggregateHarness harness = JOB.restore(device, second)) {
      assertThat(harness.changes(List.of((long) PAGE_ROWS, 1L), List.of(5L * PAGE_ROWS, 1L)))
          .containsExactly("-U[8192, 2, 11]", "+U[8192, 3, 12]", "+I[40960, 1, 1]");
    }
    folder.subsume(3);
    try (GroupAggregateHarness harness = JOB.restore(device, third)) {
      assertThat(
              harness.changes(
                  List.of(0L, 1L), List.of((long) PAGE_ROWS, 1L), List.of(5L * PAGE_ROWS, 1L)))
          .containsExactly(
              "-U[0, 1, 1]",
              "+U[0, 2, 2]",
              "-U[8192, 2, 11]",
              "+U[8192, 3, 12]",
              "-U[40960, 1, 100]",
              "+U[40960, 2, 101]");
    }
  }
}
