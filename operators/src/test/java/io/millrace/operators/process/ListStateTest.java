// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.process;

import static io.millrace.operators.process.ListCommands.ADD;
import static io.millrace.operators.process.ListCommands.CLEAR;
import static io.millrace.operators.process.ListCommands.GET;
import static io.millrace.operators.process.ListCommands.REPLACE;
import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.process.ProcessHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Lists, compared with those of Java. */
@ExtendWith(NothingHeldExtension.class)
class ListStateTest {
  private static final String LONG = "a string of more than 12 bytes";
  private static final int[] PARALLELISM = {2, 3, 1, 2};

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension seed = new RandomExtension();

  private static Job job(boolean isRequested) {
    return new Job(ListCommands.ROWS, List.of("k"), new ListCommands(isRequested));
  }

  private static List<Object> row(Long key, String command, String v, Integer n) {
    return asList(key, command, v, n);
  }

  private static List<Object> row(Long key, String command) {
    return row(key, command, null, null);
  }

  @OutOfMemoryTest(attempts = 1)
  void eachKeyHasItsElements() throws Exception {
    try (ProcessHarness harness = job(true).open(device)) {
      assertThat(
              harness.results(
                  row(1L, ADD, LONG, 1),
                  row(null, ADD, "x", null),
                  row(1L, ADD, null, 2),
                  row(1L, GET)))
          .containsExactly("[1, [+I[" + LONG + ", 1], +I[null, 2]]]");
      assertThat(
              harness.results(row(2L, GET), row(null, GET), row(1L, GET), row(1L, REPLACE, "y", 3)))
          .containsExactly(
              "[2, []]", "[null, [+I[x, null]]]", "[1, [+I[" + LONG + ", 1], +I[null, 2]]]");
      assertThat(harness.results(row(1L, ADD, "z", 4), row(1L, GET), row(null, CLEAR)))
          .containsExactly("[1, [+I[y, 3], +I[second, 2], +I[z, 4]]]");
      assertThat(harness.results(row(null, GET), row(1L, CLEAR), row(1L, GET)))
          .containsExactly("[null, []]", "[1, []]");
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void elementsAreInTheCheckpoint() throws Exception {
    OperatorSubtaskState state;
    try (ProcessHarness harness = job(false).open(device)) {
      harness.results(row(1L, ADD, LONG, 1), row(1L, ADD, "x", 2), row(2L, ADD, "y", 3));
      harness.results(row(2L, CLEAR), row(2L, ADD, "z", 4));
      state = harness.snapshot();
      harness.results(row(1L, CLEAR));
    }
    try (ProcessHarness harness = job(false).restore(device, 0, 1, state)) {
      assertThat(harness.results(row(2L, GET), row(1L, ADD, "v", 5), row(1L, GET)))
          .containsExactly("[2, [+I[z, 4]]]", "[1, [+I[" + LONG + ", 1], +I[x, 2], +I[v, 5]]]");
    }
  }

  @OutOfMemoryTest(attempts = 1)
  void elementsThatWereRemovedGiveTheirRowsBack() throws Exception {
    OperatorSubtaskState state;
    try (ProcessHarness harness = job(false).withLimits(MapCommands.SMALL).open(device)) {
      for (long key = 0; key < 16; key += 2) {
        long other = key + 1;
        harness.results(
            row(key, ADD, LONG, 1),
            row(key, ADD, "x", 2),
            row(key, ADD, "y", 3),
            row(other, ADD, LONG, 1),
            row(other, ADD, "x", 2),
            row(other, ADD, "y", 3));
        harness.results(row(key, CLEAR), row(other, CLEAR));
      }
      assertThat(harness.rowsInState()).as("rows of lists without elements").isLessThan(24);
      harness.results(row(7L, ADD, LONG, 1), row(7L, ADD, "x", 2), row(7L, ADD, "y", 3));
      harness.results(row(7L, REPLACE, "z", 4));
      state = harness.snapshot();
    }
    try (ProcessHarness harness = job(false).restore(device, 0, 1, state)) {
      assertThat(harness.results(row(7L, ADD, "v", 5), row(7L, GET), row(8L, GET)))
          .containsExactly("[7, [+I[z, 4], +I[second, 2], +I[v, 5]]]", "[8, []]");
    }
  }

  @Test
  void elementsThatAreAddedAndRemovedInABatchAreNotKept() throws Exception {
    try (ProcessHarness harness = job(false).open(device)) {
      harness.results(row(1L, ADD, "x", 1), row(2L, GET));
      long rows = harness.rowsInState();
      harness.results(row(2L, ADD, "x", 1), row(2L, ADD, "y", 2), row(2L, CLEAR), row(1L, GET));
      assertThat(harness.rowsInState()).isEqualTo(rows);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void randomCommandsAfterRescaling(boolean isRequested) throws Exception {
    Job job = job(isRequested).withLimits(MapCommands.SMALL);
    ListCommands.Model model = new ListCommands.Model();
    OperatorSubtaskState state = null;
    int before = 0;
    for (int parallelism : PARALLELISM) {
      try (ProcessSubtasks subtasks =
          ProcessSubtasks.restore(job, device, parallelism, before, state)) {
        for (int batch = 0; batch < 5; batch++) {
          List<List<Object>> rows = randomRows(60);
          assertThat(subtasks.results(rows))
              .containsExactlyInAnyOrderElementsOf(
                  rows.stream().map(model::process).filter(Objects::nonNull).toList());
        }
        state = subtasks.snapshot();
        before = parallelism;
      }
    }
  }

  private List<List<Object>> randomRows(int count) {
    Random random = seed.random();
    String[] commands = {ADD, ADD, ADD, ADD, ADD, GET, GET, REPLACE, CLEAR};
    List<List<Object>> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(
          row(
              random.nextInt(10) == 0 ? null : random.nextLong(10),
              commands[random.nextInt(commands.length)],
              random.nextInt(4) == 0 ? null : LONG.substring(random.nextInt(30)),
              random.nextInt(4) == 0 ? null : random.nextInt()));
    }
    return rows;
  }
}
