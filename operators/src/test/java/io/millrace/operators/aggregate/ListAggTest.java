// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.expression.Expressions.col;
import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.listAgg;
import static io.millrace.operators.aggregate.Aggregate.max;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.Device;
import io.millrace.expression.error.ExpressionException;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.aggregate.GroupAggregateSubtasks.Snapshot;
import io.millrace.operators.context.DeviceContext;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

@ExtendWith(NothingHeldExtension.class)
class ListAggTest {
  private static final Schema ROWS =
      Schema.of(
          new Field("k", DataType.INT32, false),
          Field.of("s", DataType.STRING),
          new Field("t", DataType.STRING, false));
  private static final List<String> KEYS = List.of("k");
  private static final Job LISTS = new Job(ROWS, KEYS, listAgg("s"), listAgg("t", " | "));
  private static final String LONG = "thirteen, and a few more";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @OutOfMemoryTest
  void valuesStandInTheOrderOfRows() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness = LISTS.open(device)) {
      assertThat(
              harness.changes(
                  asList(1, null, "x"), asList(2, "b", ""), asList(2, LONG, ""), asList(2, "", "")))
          .containsExactly("+I[1, null, x]", "+I[2, b," + LONG + ",,  |  | ]");
      assertThat(harness.changes(asList(1, "a", "y"), asList(2, null, "z"), asList(1, LONG, "y")))
          .containsExactly(
              "-U[1, null, x]",
              "+U[1, a," + LONG + ", x | y | y]",
              "-U[2, b," + LONG + ",,  |  | ]",
              "+U[2, b," + LONG + ",,  |  |  | z]");
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness = LISTS.restore(device, state)) {
      assertThat(harness.changes(asList(1, "c", LONG), asList(3, "", "")))
          .containsExactly(
              "-U[1, a," + LONG + ", x | y | y]",
              "+U[1, a," + LONG + ",c, x | y | y | " + LONG + "]",
              "+I[3, , ]");
    }
  }

  @Test
  void listsWithoutASeparatorMayNotChange() throws Exception {
    Job job = new Job(ROWS, KEYS, listAgg("t", ""), listAgg("s", "\u20ac").filter(col("k").gt(1)));
    try (GroupAggregateHarness harness = job.open(device)) {
      assertThat(harness.changes(asList(1, "a", ""), asList(2, "a", "b"), asList(2, "b", "c")))
          .containsExactly("+I[1, , null]", "+I[2, bc, a\u20acb]");
      assertThat(harness.changes(asList(1, "a", ""))).isEmpty();
      assertThat(harness.changes(asList(1, "a", "d")))
          .containsExactly("-U[1, , null]", "+U[1, d, null]");
    }
  }

  // The third attempt is the last; then parts are added or emitted.
  @OutOfMemoryTest(attempts = 3)
  void aBatchThatDoesNotFitIsAddedInParts() throws Exception {
    try (GroupAggregateHarness harness = new Job(ROWS, KEYS, listAgg("s")).open(device)) {
      List<String> changes =
          harness.changes(
              asList(1, LONG, ""), asList(1, "a", ""), asList(1, "b", ""), asList(1, LONG, ""));
      assertThat(changes.get(changes.size() - 1)).endsWith("[1, " + LONG + ",a,b," + LONG + "]");
    }
  }

  // Each string is copied with each batch of its key; what was before is given up.
  @OutOfMemoryTest
  void stringsBeforeAreGivenUp() throws Exception {
    Job job = new Job(ROWS, KEYS, listAgg("t", ""), count());
    try (GroupAggregateHarness harness = job.open(device)) {
      for (int batch = 0; batch < 5; batch++) {
        List<List<Object>> rows = new ArrayList<>();
        for (int key = 0; key < 50; key++) {
          rows.add(asList(key, null, "x".repeat(200) + batch));
        }
        harness.send(0, rows);
        harness.takeRows();
      }
      String all = "x".repeat(200);
      all = all + 0 + all + 1 + all + 2 + all + 3 + all + 4;
      assertThat(harness.changes(asList(7, null, "end")))
          .containsExactly("-U[7, " + all + ", 5]", "+U[7, " + all + "end, 6]");
    }
  }

  private static List<List<Object>> batch(int number) {
    List<List<Object>> rows = new ArrayList<>();
    for (int row = 0; row < 3_000; row++) {
      int key = row % 4 > 0 ? number * 3_000 + row : row % 500;
      String text = row % 7 == 0 ? null : "text " + (row * 7919 + number * 104_729) % 5_003;
      rows.add(asList(key, text == null ? null : text + "!".repeat(key % 90), "" + row % 10));
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
  void listsAreRescaledAndSpilled() throws Exception {
    Map<String, String> diskOnly =
        Map.of("millrace.spill.device-limit", "6 mb", "millrace.spill.host-limit", "0 b");
    Map<List<Object>, List<Object>> results = run(LISTS, 1, 1, 1).results();
    assertThat(run(LISTS, 3, 1, 2).results()).isEqualTo(results);
    assertThat(run(LISTS.withOptions(diskOnly), 3, 1, 2).results()).isEqualTo(results);
  }

  // By the separator and the argument, and not by the name.
  @Test
  void aggregatesMayBeAddedAndRemovedAroundLists() throws Exception {
    OperatorSubtaskState state;
    try (GroupAggregateHarness harness =
        LISTS.withAggregates(listAgg("t"), max("s"), listAgg("s", ";")).open(device)) {
      harness.changes(asList(1, "a", "b"), asList(1, LONG, "c"));
      state = harness.snapshot();
    }
    try (GroupAggregateHarness harness =
        LISTS.withAggregates(listAgg("s", ";").as("l"), listAgg("t", ",")).restore(device, state)) {
      assertThat(harness.changes(asList(1, "d", "d")))
          .containsExactly("-U[1, a;" + LONG + ", b,c]", "+U[1, a;" + LONG + ";d, b,c,d]");
    }
    assertThatThrownBy(() -> LISTS.withAggregates(listAgg("s", ":")).restore(device, state).close())
        .hasStackTraceContaining("LISTAGG");
  }

  @Test
  void keysThatExpireBeginAgain() throws Exception {
    try (GroupAggregateHarness harness = LISTS.withStateTtl(Duration.ofMillis(100)).open(device)) {
      harness.setProcessingTime(1_000);
      assertThat(harness.changes(asList(1, LONG, "a"), asList(2, "x", "b")))
          .containsExactly("+I[1, " + LONG + ", a]", "+I[2, x, b]");
      harness.setProcessingTime(1_200);
      assertThat(harness.changes(asList(1, null, "c"))).containsExactly("+I[1, null, c]");
      harness.setProcessingTime(1_250);
      assertThat(harness.changes(asList(1, "ab", "d")))
          .containsExactly("-U[1, null, c]", "+U[1, ab, c | d]");
    }
  }

  @Test
  void whatIsNotSupportedIsRefused() {
    assertThatThrownBy(() -> new Job(ROWS, KEYS, listAgg("k", ";")).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage("LISTAGG(`k`, ';') is not supported: its argument is INT");
    assertThatThrownBy(() -> new Job(ROWS, KEYS, listAgg("s").distinct()).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage("LISTAGG(DISTINCT `s`) is not supported: it has DISTINCT");
    assertThatThrownBy(() -> new Job(RowKindColumn.addTo(ROWS), KEYS, listAgg("s", "")).plan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            "LISTAGG(`s`, '') is not supported for a changelog: the values before are not kept");
    assertThatThrownBy(() -> LISTS.twoPhasePlan())
        .isInstanceOf(ExpressionException.class)
        .hasMessage(
            "LISTAGG(`s`) is not supported in two phases: it depends on the order of the rows of"
                + " all subtasks");
  }
}
