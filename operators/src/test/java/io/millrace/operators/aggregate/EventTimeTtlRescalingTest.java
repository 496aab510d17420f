// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static io.millrace.operators.aggregate.Aggregate.count;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.operators.aggregate.GroupAggregateHarness.Job;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Subtasks that forget keys by watermarks of their own, and are restored with another number. */
@ExtendWith(NothingHeldExtension.class)
class EventTimeTtlRescalingTest {
  private static final int TTL = 100;
  private static final int KEYS = 30;
  private static final int MAX_DIFFERENCE = 40;
  private static final int KEY_GROUPS = GroupAggregateHarness.MAX_PARALLELISM;
  private static final Job JOB =
      new Job(Schema.of(new Field("k", DataType.STRING, false)), List.of("k"), count().as("rows"))
          .withStateTtl(StateTtl.ofEventTime(Duration.ofMillis(TTL)));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /**
   * The rows of a key since it began.
   *
   * @param earliest the watermark of its subtask at the last of them; {@code Long.MIN_VALUE} if it
   *     may be forgotten at any time
   * @param latest the largest watermark of any subtask then
   */
  private record Values(long rows, long earliest, long latest) {}

  /** What a checkpoint has. */
  private record Saved(
      OperatorSubtaskState state, Map<String, Values> keys, List<Long> watermarks, long largest) {}

  private final List<GroupAggregateHarness> subtasks = new ArrayList<>();
  private Map<String, Values> keys = new HashMap<>();
  private List<Long> watermarks;
  private long largest = Long.MIN_VALUE;
  private int kept;
  private int forgotten;

  @Test
  void noKeyIsForgottenEarlyAndEachOneByTheDifferenceOfWatermarksLater() throws Exception {
    Random numbers = random.random();
    long time = numbers.nextInt(1_000);
    try {
      open(null, 3);
      Saved saved = null;
      for (int step = 0; step < 900; step++) {
        time += numbers.nextInt(5);
        int choice = step < 3 ? 3 : numbers.nextInt(24);
        if (choice == 0) {
          saved = snapshot();
        } else if (choice == 1 && saved != null) {
          open(saved, 1 + numbers.nextInt(3));
        } else if (choice < 9) {
          int subtask = step < 3 ? step : numbers.nextInt(subtasks.size());
          watermark(subtask, time - numbers.nextInt(MAX_DIFFERENCE));
        } else {
          send("k" + numbers.nextInt(KEYS));
        }
      }
    } finally {
      subtasks.forEach(GroupAggregateHarness::close);
    }
    assertThat(kept).isPositive();
    assertThat(forgotten).isPositive();
  }

  private void open(Saved saved, int parallelism) throws Exception {
    subtasks.forEach(GroupAggregateHarness::close);
    subtasks.clear();
    for (int subtask = 0; subtask < parallelism; subtask++) {
      OperatorSubtaskState state =
          saved == null
              ? null
              : AbstractStreamOperatorTestHarness.repartitionOperatorState(
                  saved.state, KEY_GROUPS, saved.watermarks.size(), parallelism, subtask);
      subtasks.add(JOB.restore(device, subtask, parallelism, state));
    }
    long least = saved == null ? Long.MIN_VALUE : Collections.min(saved.watermarks);
    watermarks = new ArrayList<>(Collections.nCopies(parallelism, least));
    if (saved != null) {
      keys = new HashMap<>(saved.keys);
      largest = saved.largest;
    }
  }

  private Saved snapshot() throws Exception {
    OperatorSubtaskState[] parts = new OperatorSubtaskState[subtasks.size()];
    for (int subtask = 0; subtask < parts.length; subtask++) {
      parts[subtask] = subtasks.get(subtask).snapshot();
    }
    return new Saved(
        AbstractStreamOperatorTestHarness.repackageState(parts),
        savedKeys(),
        List.copyOf(watermarks),
        largest);
  }

  // What has expired may be removed before a checkpoint, and a restore does not bring it back.
  private Map<String, Values> savedKeys() {
    Map<String, Values> saved = new HashMap<>();
    keys.forEach(
        (key, values) -> {
          boolean mayBeGone = values.earliest + TTL <= watermarks.get(subtask(key));
          long earliest = mayBeGone ? Long.MIN_VALUE : values.earliest;
          saved.put(key, new Values(values.rows, earliest, values.latest));
        });
    return saved;
  }

  private int subtask(String key) {
    return KeyGroupRangeAssignment.assignKeyToParallelOperator(key, KEY_GROUPS, subtasks.size());
  }

  private void watermark(int subtask, long timestamp) throws Exception {
    subtasks.get(subtask).watermark(timestamp);
    watermarks.set(subtask, Math.max(watermarks.get(subtask), timestamp));
    largest = Math.max(largest, timestamp);
  }

  private void send(String key) throws Exception {
    int subtask = subtask(key);
    List<String> changes = subtasks.get(subtask).changes(List.of(key));
    Values before = keys.get(key);
    boolean isNew = changes.equals(List.of("+I[" + key + ", 1]"));
    if (before == null) {
      assertThat(isNew).as("whether %s begins", changes).isTrue();
    } else {
      check(before, isNew, watermarks.get(subtask));
    }
    long rows = isNew ? 1 : before.rows + 1;
    if (!isNew) {
      assertThat(changes)
          .containsExactly("-U[" + key + ", " + before.rows + "]", "+U[" + key + ", " + rows + "]");
    }
    keys.put(key, new Values(rows, watermarks.get(subtask), largest));
  }

  private void check(Values values, boolean isForgotten, long watermark) {
    if (watermark < values.earliest + TTL) {
      assertThat(isForgotten).as("whether %s is forgotten at %d", values, watermark).isFalse();
      kept++;
    } else if (values.latest + TTL <= watermark) {
      assertThat(isForgotten).as("whether %s is forgotten at %d", values, watermark).isTrue();
      forgotten++;
    }
  }
}
