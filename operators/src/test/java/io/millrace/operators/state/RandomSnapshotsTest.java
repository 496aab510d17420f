// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.aggregate.GroupAggregateModel;
import io.millrace.operators.aggregate.GroupAggregateSubtasks;
import io.millrace.operators.aggregate.GroupAggregateSubtasks.Snapshot;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Random batches, and random returns to earlier checkpoints with any number of subtasks. */
@ExtendWith(NothingHeldExtension.class)
class RandomSnapshotsTest {
  private static final int CASES = 100;
  private static final int STEPS = 12;
  private static final int MAX_PARALLELISM = 4;
  private static final Map<String, String> INCREMENTAL =
      Map.of("execution.checkpointing.incremental", "true");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @ParameterizedTest
  @CsvSource({"false, false", "true, false", "false, true", "true, true"})
  void resultsAreThoseOfAllRowsUpToTheMomentOfTheCheckpoint(
      boolean isChangelog, boolean isIncremental) throws Exception {
    for (int i = 0; i < CASES; i++) {
      run(isChangelog, isIncremental, new Random(random.seed() + i));
    }
  }

  private void run(boolean isChangelog, boolean isIncremental, Random numbers) throws Exception {
    GroupAggregateModel model = new GroupAggregateModel(isChangelog, true);
    Job job = isIncremental ? model.job().withOptions(INCREMENTAL) : model.job();
    GroupAggregateModel modelOfSnapshot = null;
    Snapshot snapshot = null;
    GroupAggregateSubtasks subtasks =
        GroupAggregateSubtasks.open(device, job, 1 + numbers.nextInt(MAX_PARALLELISM));
    try {
      for (int step = 0; step < STEPS; step++) {
        int choice = numbers.nextInt(6);
        if (choice == 0) {
          snapshot = subtasks.snapshot();
          modelOfSnapshot = model.copy();
        } else if (choice == 1 && snapshot != null) {
          subtasks.close();
          int parallelism = 1 + numbers.nextInt(MAX_PARALLELISM);
          subtasks = GroupAggregateSubtasks.restore(device, job, snapshot, parallelism);
          model = modelOfSnapshot.copy();
        } else {
          subtasks.send(model.randomBatch(numbers));
        }
        assertThat(subtasks.results()).isEqualTo(model.results());
      }
    } finally {
      subtasks.close();
    }
  }
}
