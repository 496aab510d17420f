// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static java.util.Arrays.asList;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.process.MapCommands;
import io.millrace.operators.process.ProcessOperator;
import io.millrace.operators.process.ProcessPlan;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.testing.DeviceExtension;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Incremental checkpoints of an operator with the state of values and that of a map. */
@ExtendWith(NothingHeldExtension.class)
class SeveralStatesTest {
  private static final int ENTRIES = 3_000;
  private static final ProcessPlan PLAN =
      new ProcessPlan(MapCommands.ROWS, List.of("k"), new MapCommands(0, true), StateTtl.NONE);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @TempDir Path temporary;

  /** The only subtask. */
  private static final class Subtask extends KeyedOperatorHarness {
    Subtask(DeviceExtension device, OperatorSubtaskState state) throws Exception {
      super(
          device,
          MapCommands.ROWS,
          PLAN.outputSchema(),
          ProcessOperator.factory(PLAN),
          environment(0, 1, Map.of(CheckpointingOptions.INCREMENTAL_CHECKPOINTS.key(), "true")));
      start(state);
    }

    OperatorSubtaskState checkpoint(CheckpointFolder folder, long number) throws Exception {
      OperatorSubtaskState state =
          write(beginSnapshot(number, CheckpointType.CHECKPOINT, folder.streams(number)));
      folder.complete(number, state);
      notifyComplete(number);
      return state;
    }
  }

  private static List<Object> command(String command, int n) {
    return asList("a", command, "x", n, "value " + n);
  }

  @OutOfMemoryTest(attempts = 1)
  void aStateThatDidNotChangeIsNotWrittenAgain() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    OperatorSubtaskState first;
    OperatorSubtaskState second;
    try (Subtask subtask = new Subtask(device, null)) {
      subtask.send(
          0, IntStream.range(0, ENTRIES).mapToObj(n -> command(MapCommands.PUT, n)).toList());
      first = subtask.checkpoint(folder, 1);
      subtask.send(0, List.of(command(MapCommands.GET, 7)));
      second = subtask.checkpoint(folder, 2);
    }
    assertThat(IncrementalCheckpointTest.handle(first).getCheckpointedSize())
        .isGreaterThan(64L * ENTRIES);
    assertThat(IncrementalCheckpointTest.handle(second).getCheckpointedSize()).isLessThan(2_000);
    try (Subtask subtask = new Subtask(device, second)) {
      subtask.send(
          0,
          List.of(
              command(MapCommands.PUT, ENTRIES),
              command(MapCommands.GET, 7),
              command(MapCommands.GET, ENTRIES)));
      assertThat(subtask.takeRows())
          .containsExactly(
              asList("a", "get +I[x, 7] +I[value 7, 8]"),
              asList("a", "get +I[x, 3000] +I[value 3000, 3002]"));
    }
  }
}
