// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.Device;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.aggregate.GroupAggregateSubtasks.Snapshot;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class StringKeysAggregateTest {
  private static final Schema WORDS =
      Schema.of(Field.of("word", DataType.STRING), new Field("n", DataType.INT64, false));
  private static final Job JOB = new Job(WORDS, List.of("word"), count(), sum("n"));
  private static final String LONG = "thirteen, and a few more";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @OutOfMemoryTest
  void shortAndLongStringsAndNullAreKeys() throws Exception {
    try (GroupAggregateHarness harness = JOB.open(device)) {
      assertThat(
              harness.changes(
                  asList("", 1L), asList(null, 2L), asList(LONG, 3L), asList("twelve bytes", 4L)))
          .containsExactly(
              "+I[, 1, 1]", "+I[null, 1, 2]", "+I[" + LONG + ", 1, 3]", "+I[twelve bytes, 1, 4]");
      assertThat(harness.changes(asList(LONG, 5L), asList("twelve bytes!", 6L), asList(null, 7L)))
          .containsExactly(
              "-U[" + LONG + ", 1, 3]",
              "+U[" + LONG + ", 2, 8]",
              "+I[twelve bytes!, 1, 6]",
              "-U[null, 1, 2]",
              "+U[null, 2, 9]");
    }
  }

  // The third attempt is the last; then the batch is aggregated in parts.
  @OutOfMemoryTest(attempts = 3)
  void slicesOfABatchAreAggregated() throws Exception {
    List<List<Object>> rows =
        List.of(asList(LONG, 1L), asList("a", 2L), asList(LONG, 4L), asList("b", 8L));
    try (GroupAggregateHarness harness = JOB.open(device);
        Table whole = TableBuilder.ofRows(WORDS, rows).build(device)) {
      harness.send(0, whole.slice(1, 2));
      harness.send(0, whole.slice(2, 2));
      assertThat(harness.takeChanges())
          .containsExactly(
              "+I[a, 1, 2]",
              "+I[" + LONG + ", 1, 4]",
              "-U[" + LONG + ", 1, 4]",
              "+U[" + LONG + ", 2, 8]",
              "+I[b, 1, 8]");
    }
  }

  @OutOfMemoryTest
  void longStringsAreRestored() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = JOB.open(device)) {
      harness.send(0, List.of(asList(LONG, 1L), asList("short", 2L), asList(LONG + "!", 3L)));
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = JOB.restore(device, state)) {
      assertThat(harness.changes(asList(LONG + "!", 4L)))
          .containsExactly("-U[" + LONG + "!, 1, 3]", "+U[" + LONG + "!, 2, 7]");
    }
  }

  private static List<List<Object>> batch(int number) {
    List<List<Object>> rows = new ArrayList<>();
    for (int row = 0; row < 5_000; row++) {
      int key = row % 4 > 0 ? number * 5_000 + row : row * number;
      rows.add(List.of("a word that takes " + "many ".repeat(key % 90) + key, (long) row));
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
        for (int i = 0; i < 6; i++) {
          subtasks.send(batch(number++));
        }
        assertThat(DeviceContext.spilledBytes(Device.current()) > 0)
            .as("whether state is spilled")
            .isEqualTo(!job.options().isEmpty());
        snapshot = subtasks.snapshot();
        subtasks.send(batch(number));
      }
    }
    return snapshot;
  }

  @Test
  void longStringsAreSpilled() throws Exception {
    Map<String, String> diskOnly =
        Map.of("millrace.spill.device-limit", "5 mb", "millrace.spill.host-limit", "0 b");
    assertThat(run(JOB.withOptions(diskOnly), 3, 2).results()).isEqualTo(run(JOB, 3, 2).results());
  }

  @Test
  void listsAreRefused() {
    Schema lists = Schema.of(Field.of("words", DataType.list(DataType.STRING)));
    assertThatThrownBy(() -> new Job(lists, List.of("words"), count()).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("words");
  }
}
