// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Group aggregates that forget keys, by a clock that the tests set. */
@ExtendWith(NothingHeldExtension.class)
class GroupAggregateTtlTest {
  private static final Schema ROWS =
      Schema.of(new Field("k", DataType.STRING, false), new Field("n", DataType.INT32, false));
  private static final Job FOREVER =
      new Job(ROWS, List.of("k"), count().as("rows"), sum("n").as("sum"));
  private static final Job JOB = FOREVER.withStateTtl(Duration.ofMillis(100));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @OutOfMemoryTest
  void keysWithoutRowsForTheTimeBeginAnew() throws Exception {
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.setProcessingTime(1_000);
      assertThat(harness.changes(List.of("a", 1), List.of("b", 2)))
          .containsExactly("+I[a, 1, 1]", "+I[b, 1, 2]");
      harness.setProcessingTime(1_099);
      assertThat(harness.changes(List.of("a", 3))).containsExactly("-U[a, 1, 1]", "+U[a, 2, 4]");
      harness.setProcessingTime(1_100);
      assertThat(harness.changes(List.of("b", 5), List.of("a", 0), List.of("b", 6)))
          .containsExactly("+I[b, 2, 11]", "-U[a, 2, 4]", "+U[a, 3, 4]");
      harness.setProcessingTime(5_000);
      assertThat(harness.changes(List.of("a", 7))).containsExactly("+I[a, 1, 7]");
    }
  }

  @Test
  void updatesThatChangeNothingRenewTheTimeOfReaders() throws Exception {
    Job job = new Job(ROWS, List.of("k"), sum("n").as("sum")).withStateTtl(Duration.ofMillis(100));
    try (GroupAggregateHarness harness = job.open(device)) {
      assertThat(harness.changes(List.of("a", 1))).containsExactly("+I[a, 1]");
      assertThat(harness.changes(List.of("a", 0))).containsExactly("-U[a, 1]", "+U[a, 1]");
    }
  }

  @OutOfMemoryTest
  void timesAreInTheCheckpoint() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.setProcessingTime(1_000);
      harness.changes(List.of("a", 1), List.of("a longer key, 1", 2));
      harness.setProcessingTime(1_050);
      harness.changes(List.of("b", 1), List.of("a longer key, 2", 2));
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = JOB.restoreAt(1_100, device, state)) {
      assertThat(harness.rowsInState()).isEqualTo(2);
      assertThat(harness.changes(List.of("a", 3), List.of("a longer key, 2", 4)))
          .containsExactly("+I[a, 1, 3]", "-U[a longer key, 2, 1, 2]", "+U[a longer key, 2, 2, 6]");
      harness.setProcessingTime(1_150);
      assertThat(harness.changes(List.of("b", 3))).containsExactly("+I[b, 1, 3]");
    }
  }

  @OutOfMemoryTest
  void expiredRowsAreRemovedWhileBatchesGoOn() throws Exception {
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.setProcessingTime(1_000);
      for (int batch = 0; batch < 10; batch++) {
        harness.changes(rows(batch * 100, batch * 100 + 100).toArray(List[]::new));
      }
      assertThat(harness.rowsInState()).isEqualTo(1_000);
      harness.setProcessingTime(1_050);
      harness.changes(rows(0, 100).toArray(List[]::new));
      assertThat(harness.expiredRows()).isZero();
      for (int time = 1_100; harness.rowsInState() > 101; time++) {
        harness.setProcessingTime(time);
        assertThat(harness.changes(List.of(key(7), 1)).get(0)).startsWith("-U[" + key(7) + ", ");
        assertThat(harness.changes(List.of(key(8), 1)).get(0)).startsWith("-U[" + key(8) + ", ");
      }
      assertThat(harness.expiredRows()).isEqualTo(900);
      assertThat(harness.changes(List.of(key(9), 1), List.of(key(500), 2)))
          .containsExactly(
              "-U[" + key(9) + ", 2, 18]",
              "+U[" + key(9) + ", 3, 19]",
              "+I[" + key(500) + ", 1, 2]");
    }
  }

  private static List<List<?>> rows(int first, int end) {
    return IntStream.range(first, end).<List<?>>mapToObj(n -> List.of(key(n), n)).toList();
  }

  private static String key(int number) {
    return number % 2 == 0 ? "k" + number : "a longer key, number " + number;
  }

  @Test
  void rowsWithoutTimesAreAsIfWrittenAtTheRestore() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = FOREVER.open(device)) {
      harness.setProcessingTime(1_000);
      harness.changes(List.of("a", 1), List.of("b", 2));
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = JOB.restoreAt(5_000, device, state)) {
      harness.setProcessingTime(5_099);
      assertThat(harness.changes(List.of("a", 3))).containsExactly("-U[a, 1, 1]", "+U[a, 2, 4]");
      harness.setProcessingTime(5_100);
      assertThat(harness.changes(List.of("b", 3))).containsExactly("+I[b, 1, 3]");
    }
  }

  @Test
  void timesOfACheckpointAreDroppedByAJobThatKeepsKeys() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.setProcessingTime(1_000);
      harness.changes(List.of("a", 1));
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = FOREVER.restoreAt(1_000_000, device, state)) {
      assertThat(harness.changes(List.of("a", 3))).containsExactly("-U[a, 1, 1]", "+U[a, 2, 4]");
    }
  }
}
