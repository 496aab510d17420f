// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import static io.millrace.operators.deduplicate.Deduplication.keepFirst;
import static io.millrace.operators.deduplicate.Deduplication.keepLast;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.kernel.hash.HashFunction;
import io.millrace.kernel.partition.HashPartition;
import io.millrace.kernel.partition.PartitionAssigner;
import io.millrace.kernel.partition.PartitionedTable;
import io.millrace.operators.deduplicate.DeduplicateHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** De-duplication in checkpoints, restored with any parallelism. */
@ExtendWith(NothingHeldExtension.class)
class DeduplicateStateTest {
  private static final Schema ROWS =
      Schema.of(new Field("k", DataType.STRING, false), new Field("n", DataType.INT32, false));
  private static final int[] PARALLELISM = {2, 3, 1, 16, 2};

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @OutOfMemoryTest
  void keysOfTheCheckpointAreKnown() throws Exception {
    OperatorSubtaskState state;
    Job job = new Job(ROWS, List.of("k"), keepLast());
    try (DeduplicateHarness harness = job.open(device)) {
      assertThat(harness.results(List.of("a", 1), List.of("b", 2)))
          .containsExactly("+I[a, 1]", "+I[b, 2]");
      state = harness.snapshot();
      assertThat(harness.results(List.of("c", 3), List.of("a", 4)))
          .containsExactly("+I[c, 3]", "+U[a, 4]");
    }
    try (DeduplicateHarness harness = job.restore(device, 0, 1, state)) {
      assertThat(harness.results(List.of("c", 5), List.of("b", 6), List.of("b", 7)))
          .containsExactly("+I[c, 5]", "+U[b, 7]");
    }
  }

  @Test
  void firstRowsAreNotLastRows() throws Exception {
    OperatorSubtaskState state;
    try (DeduplicateHarness harness = new Job(ROWS, List.of("k"), keepFirst()).open(device)) {
      harness.results(List.of("a", 1));
      state = harness.snapshot();
    }
    assertThatThrownBy(
            () -> new Job(ROWS, List.of("k"), keepLast()).restore(device, 0, 1, state).close())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("$MIN(arrival)")
        .hasMessageContaining("$MAX(arrival)");
  }

  @Test
  void anotherOrderCannotBeRestored() throws Exception {
    OperatorSubtaskState state;
    try (DeduplicateHarness harness = new Job(ROWS, List.of("k"), keepLast()).open(device)) {
      harness.results(List.of("a", 1));
      state = harness.snapshot();
    }
    Job byColumn = new Job(ROWS, List.of("k"), keepLast().by("n"));
    assertThatThrownBy(() -> byColumn.restore(device, 0, 1, state).close())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("$MAX(arrival)")
        .hasMessageContaining("$MAX(n)");
  }

  private static Stream<Deduplication> deduplications() {
    return Stream.of(keepFirst(), keepLast(), keepFirst().by("n"), keepLast().by("n"));
  }

  @ParameterizedTest
  @MethodSource("deduplications")
  void eachSubtaskHasItsKeysAfterRescaling(Deduplication deduplication) throws Exception {
    Job job = new Job(ROWS, List.of("k"), deduplication);
    boolean isByColumn = deduplication.column() != null;
    boolean isFirst = deduplication.keep() == Deduplication.Keep.FIRST;
    Map<Object, Integer> expected = new HashMap<>();
    Map<Object, Object> results = new HashMap<>();
    OperatorSubtaskState state = null;
    int before = 0;
    int number = 0;
    for (int parallelism : PARALLELISM) {
      List<DeduplicateHarness> subtasks = new ArrayList<>();
      try {
        for (int subtask = 0; subtask < parallelism; subtask++) {
          subtasks.add(
              job.restore(device, subtask, parallelism, part(state, before, parallelism, subtask)));
        }
        for (int batch = 0; batch < 6; batch++) {
          List<List<Object>> rows = new ArrayList<>();
          for (int i = random.random().nextInt(60); i > 0; i--, number++) {
            int key = random.random().nextInt(100);
            // Out of order, and all different.
            int n = isByColumn ? number ^ 0xff : number;
            List<Object> row = List.of(key % 2 == 0 ? "k" + key : "a longer key, " + key, n);
            rows.add(row);
            expected.merge(row.get(0), n, isFirst ? Math::min : Math::max);
          }
          send(subtasks, rows, deduplication, results);
          assertThat(results).as("with parallelism %d", parallelism).isEqualTo(expected);
        }
        state = snapshot(subtasks);
        before = parallelism;
      } finally {
        subtasks.forEach(DeduplicateHarness::close);
      }
    }
  }

  private static OperatorSubtaskState part(
      OperatorSubtaskState state, int before, int parallelism, int subtask) {
    return state == null
        ? null
        : AbstractStreamOperatorTestHarness.repartitionOperatorState(
            state, DeduplicateHarness.MAX_PARALLELISM, before, parallelism, subtask);
  }

  private static OperatorSubtaskState snapshot(List<DeduplicateHarness> subtasks) throws Exception {
    OperatorSubtaskState[] states = new OperatorSubtaskState[subtasks.size()];
    for (int i = 0; i < states.length; i++) {
      states[i] = subtasks.get(i).snapshot();
    }
    return AbstractStreamOperatorTestHarness.repackageState(states);
  }

  private void send(
      List<DeduplicateHarness> subtasks,
      List<List<Object>> rows,
      Deduplication deduplication,
      Map<Object, Object> results)
      throws Exception {
    try (Table batch = TableBuilder.ofRows(ROWS, rows).build(device);
        PartitionedTable parts =
            HashPartition.hashPartition(
                batch,
                List.of(0),
                PartitionAssigner.subtasks(DeduplicateHarness.MAX_PARALLELISM, subtasks.size()),
                HashFunction.FLINK_JAVA,
                device.stream(),
                device.memory())) {
      for (int i = 0; i < subtasks.size(); i++) {
        subtasks.get(i).send(0, parts.partition(i));
        for (List<Object> row : subtasks.get(i).takeRows()) {
          boolean isUpdate =
              deduplication.isChangelog() && row.get(2).equals(RowKind.UPDATE_AFTER.toByteValue());
          Object replaced = results.put(row.get(0), row.get(1));
          assertThat(replaced != null).as("whether %s replaces a row", row).isEqualTo(isUpdate);
        }
      }
    }
  }
}
