// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.device.GpuOutOfMemoryException;
import io.millrace.operators.aggregate.GroupAggregateHarness;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.aggregate.GroupAggregateSubtasks;
import io.millrace.operators.aggregate.GroupAggregateSubtasks.Snapshot;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** State beyond the device's limit: chunks that no batch uses are on disk. */
@ExtendWith(NothingHeldExtension.class)
class SpilledStateTest {
  private static final Schema SCHEMA =
      Schema.of(new Field("key", DataType.INT64, false), new Field("value", DataType.INT64, false));
  private static final Job JOB = new Job(SCHEMA, List.of("key"), count(), sum("value"));
  private static final Map<String, String> DISK_ONLY =
      Map.of("millrace.spill.device-limit", "5 mb", "millrace.spill.host-limit", "0 b");
  private static final int BATCHES = 12;
  private static final int BATCH_ROWS = 20_000;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static List<List<Object>> batch(int number) {
    List<List<Object>> rows = new ArrayList<>();
    for (long row = 0; row < BATCH_ROWS; row++) {
      boolean isNew = row % 4 > 0;
      long key = isNew ? number * (long) BATCH_ROWS + row : row * number;
      rows.add(List.of(key, key + number));
    }
    return rows;
  }

  private Snapshot run(Job job, int... parallelisms) throws Exception {
    Snapshot snapshot = null;
    int number = 0;
    for (int parallelism : parallelisms) {
      try (GroupAggregateSubtasks subtasks =
          snapshot == null
              ? GroupAggregateSubtasks.open(device, job, parallelism)
              : GroupAggregateSubtasks.restore(device, job, snapshot, parallelism)) {
        for (int i = 0; i < BATCHES / parallelisms.length; i++) {
          subtasks.send(batch(number++));
        }
        boolean isLimited = !job.options().isEmpty();
        assertThat(DeviceContext.spilledBytes(Device.current()) > 0)
            .as("whether state is spilled")
            .isEqualTo(isLimited);
        snapshot = subtasks.snapshot();
        subtasks.send(batch(number));
      }
    }
    return snapshot;
  }

  @Test
  void resultsAreThoseOfStateOnTheDevice() throws Exception {
    Snapshot expected = run(JOB, 4);
    assertThat(run(JOB.withOptions(DISK_ONLY), 4, 3).results()).isEqualTo(expected.results());
    assertThat(run(JOB.withOptions(DISK_ONLY), 1).results()).isEqualTo(expected.results());
  }

  @Test
  void aSnapshotOfSpilledChunksIsWritten() throws Exception {
    Job job = JOB.withOptions(DISK_ONLY);
    try (GroupAggregateHarness first = job.open(device);
        GroupAggregateHarness second = job.open(device)) {
      List<List<Object>> rows = new ArrayList<>();
      for (long key = 0; key < 60_000; key++) {
        rows.add(List.of(key, key));
      }
      first.send(0, rows.subList(0, 30_000));
      first.send(0, rows.subList(30_000, 60_000));
      OperatorSnapshotFutures snapshot = first.beginSnapshot();
      second.send(0, rows.subList(0, 30_000));
      second.send(0, rows.subList(30_000, 60_000));
      assertThat(DeviceContext.spilledBytes(Device.current())).isPositive();
      first.send(0, rows.subList(0, 100));
      try (GroupAggregateHarness restored =
          JOB.restore(device, GroupAggregateHarness.write(snapshot))) {
        assertThat(restored.changes(List.of(7L, 1L), List.of(59_999L, 1L)))
            .containsExactly(
                "-U[7, 1, 7]", "+U[7, 2, 8]", "-U[59999, 1, 59999]", "+U[59999, 2, 60000]");
      }
    }
  }

  @Test
  void stateOfASubtaskThatIsLargerThanTheDeviceFailsWithTheOptionToChange() throws Exception {
    Map<String, String> options = Map.of("millrace.device.memory-limit", "4 mb");
    try (GroupAggregateHarness harness = JOB.withOptions(options).open(device)) {
      assertThatThrownBy(
              () -> {
                for (long number = 0; number < 40; number++) {
                  List<List<Object>> rows = new ArrayList<>();
                  for (long key = 0; key < 10_000; key++) {
                    rows.add(List.of(number * 10_000 + key, key));
                  }
                  harness.send(0, rows);
                }
              })
          .isInstanceOf(GpuOutOfMemoryException.class)
          .hasMessageContaining("millrace.device.memory-limit");
    }
  }
}
