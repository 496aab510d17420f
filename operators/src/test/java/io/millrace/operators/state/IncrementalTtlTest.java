// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import static io.millrace.operators.aggregate.Aggregate.count;
import static io.millrace.operators.aggregate.Aggregate.firstValue;
import static io.millrace.operators.aggregate.Aggregate.lastValue;
import static io.millrace.operators.aggregate.Aggregate.max;
import static io.millrace.operators.aggregate.Aggregate.min;
import static io.millrace.operators.aggregate.Aggregate.sum;
import static io.millrace.operators.state.IncrementalCheckpointTest.handle;
import static io.millrace.operators.state.IncrementalCheckpointTest.take;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.GroupAggregateHarness;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.CheckpointType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.IncrementalKeyedStateHandle.HandleAndLocalPath;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Incremental checkpoints of keys that expire, while their rows move to other tables. */
@ExtendWith(NothingHeldExtension.class)
class IncrementalTtlTest {
  private static final int TTL = 100;
  private static final int KEYS = 200_000;
  private static final int MAX_BATCH_ROWS = 25_000;
  private static final int STEPS = 40;
  private static final Schema ROWS =
      Schema.of(new Field("k", DataType.STRING, false), new Field("n", DataType.INT64, false));
  private static final Job JOB =
      new Job(
              ROWS,
              List.of("k"),
              count(),
              sum("n"),
              min("n"),
              max("n"),
              firstValue("n"),
              lastValue("n"))
          .withStateTtl(Duration.ofMillis(TTL))
          .withOptions(Map.of("execution.checkpointing.incremental", "true"));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();
  @TempDir Path temporary;

  /** The values of a key at a time. */
  private record Values(
      long time, long count, long sum, long min, long max, long first, long last) {
    static Values of(long time, long n) {
      return new Values(time, 1, n, n, n, n, n);
    }

    Values with(long now, long n) {
      return now - time >= TTL
          ? of(now, n)
          : new Values(now, count + 1, sum + n, Math.min(min, n), Math.max(max, n), first, n);
    }

    List<Object> row(String key) {
      return List.of(key, count, sum, min, max, first, last);
    }
  }

  private record Begun(
      long checkpoint, OperatorSnapshotFutures futures, Map<Integer, Values> model) {}

  @Test
  void checkpointsHaveTheRowsOfTheirMoment() throws Exception {
    Random numbers = random.random();
    CheckpointFolder folder = new CheckpointFolder(temporary);
    Map<Integer, Values> model = new HashMap<>();
    Map<Integer, Values> modelOfCompleted = new HashMap<>();
    OperatorSubtaskState completed = null;
    Begun begun = null;
    long now = 1_000;
    long checkpoint = 0;
    GroupAggregateHarness harness = JOB.restoreAt(now, device, null);
    try {
      for (int step = 0; step < STEPS; step++) {
        int choice = numbers.nextInt(10);
        if (choice == 0) {
          if (begun != null) {
            begun.futures().cancel();
            begun = null;
          }
          harness.close();
          harness = JOB.restoreAt(now, device, completed);
          model = new HashMap<>(modelOfCompleted);
        } else if (choice <= 2 && begun == null) {
          checkpoint++;
          begun =
              new Begun(
                  checkpoint,
                  harness.beginSnapshot(
                      checkpoint, CheckpointType.CHECKPOINT, folder.streams(checkpoint)),
                  new HashMap<>(model));
        } else if (choice <= 4 && begun != null) {
          OperatorSubtaskState state = GroupAggregateHarness.write(begun.futures());
          if (numbers.nextInt(4) == 0) {
            state.discardState();
            harness.notifyAborted(begun.checkpoint());
          } else {
            completed = folder.complete(begun.checkpoint(), state);
            folder.subsume(begun.checkpoint());
            harness.notifyComplete(begun.checkpoint());
            modelOfCompleted = begun.model();
          }
          begun = null;
        } else {
          now += numbers.nextInt(numbers.nextInt(10) == 0 ? 200 : 20);
          harness.setProcessingTime(now);
          send(harness, model, now, numbers);
        }
      }
      if (begun != null) {
        begun.futures().cancel();
      }
    } finally {
      harness.close();
    }
  }

  @Test
  void aCheckpointBehindAMoveIsFull() throws Exception {
    CheckpointFolder folder = new CheckpointFolder(temporary);
    try (GroupAggregateHarness harness = JOB.restoreAt(1_000, device, null)) {
      harness.send(1, List.of(List.of("live", 1L), List.of("b", 1L), List.of("c", 1L)));
      OperatorSubtaskState before = take(harness, folder, 1);
      OperatorSubtaskState same = take(harness, folder, 2);
      assertThat(paths(same)).isEqualTo(paths(before));
      for (long time = 1_050; harness.rowsInState() > 1; time++) {
        harness.setProcessingTime(time);
        harness.send(1, List.of(List.of("live", 1L)));
      }
      OperatorSubtaskState after = take(harness, folder, 3);
      assertThat(paths(after)).hasSize(1).doesNotContainAnyElementsOf(paths(before));
      folder.subsume(3);
      assertThat(folder.sharedFiles()).hasSize(1);
    }
  }

  private static List<String> paths(OperatorSubtaskState state) {
    return handle(state).getSharedState().stream().map(HandleAndLocalPath::getLocalPath).toList();
  }

  private static void send(
      GroupAggregateHarness harness, Map<Integer, Values> model, long now, Random numbers)
      throws Exception {
    int first = numbers.nextInt(KEYS);
    int count = 1 + numbers.nextInt(MAX_BATCH_ROWS);
    int stride = 1 + numbers.nextInt(3);
    List<List<Object>> rows = new ArrayList<>();
    List<List<Object>> expected = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int key = (first + i * stride) % KEYS;
      long n = numbers.nextInt(1000);
      rows.add(List.of(key(key), n));
      Values values =
          model.compute(
              key, (absent, before) -> before == null ? Values.of(now, n) : before.with(now, n));
      expected.add(values.row(key(key)));
    }
    harness.send(1, rows);
    List<List<Object>> last = new ArrayList<>();
    for (List<Object> row : harness.takeRows()) {
      byte kind = (Byte) row.get(row.size() - 1);
      if (kind == 0 || kind == 2) {
        last.add(row.subList(0, row.size() - 1));
      }
    }
    assertThat(last.equals(expected)).as("results of a batch").isTrue();
  }

  private static String key(int number) {
    return number % 3 == 0 ? "a longer key, number " + number : "k" + number;
  }
}
