// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.state.KeyedOperatorHarness;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.api.TimeDomain;

/**
 * Plays batches, watermarks, checkpoints and restores with another number of subtasks against a
 * model, while each operator of each subtask has a machine's clock of its own.
 */
final class TtlSchedule {
  private static final int KEYS = 14;

  /** A simple program that makes the same changes. */
  interface Model {
    Model copy();

    /**
     * A random row.
     *
     * @param now the time of its batch
     */
    List<?> nextRow(int key, long now, Random numbers);

    /** The changes that a batch makes at a time, such as {@code +I[1, 20]}. */
    List<String> changes(List<List<?>> rows, long now);
  }

  private record Saved(
      List<OperatorSubtaskState> state, int parallelism, Model model, long clock) {}

  private final DeviceExtension device;
  private final GroupAggregatePlan plan;
  private final TimeDomain domain;
  private final RandomExtension random;
  private final Random numbers;
  private final List<AggregateChain> subtasks = new ArrayList<>();
  // What time it is in each subtask.
  private final List<Long> clocks = new ArrayList<>();
  private Model model;
  private long time = 1_000;
  private int begun;

  /**
   * @param plan with an INT key
   */
  TtlSchedule(
      DeviceExtension device,
      GroupAggregatePlan plan,
      TimeDomain domain,
      Model model,
      RandomExtension random) {
    this.device = device;
    this.plan = plan;
    this.domain = domain;
    this.model = model;
    this.random = random;
    this.numbers = random.random();
  }

  /** Plays steps, and returns how many keys began. */
  int play(int steps) throws Exception {
    Saved saved = null;
    try {
      open(null, model, Long.MIN_VALUE, 1, 2);
      watermarks();
      for (int step = 0; step < steps; step++) {
        time += numbers.nextInt(12);
        int choice = numbers.nextInt(30);
        if (choice == 0) {
          saved = save();
        } else if (choice == 1 && saved != null) {
          int parallelism = 1 + numbers.nextInt(3);
          open(saved.state, saved.model.copy(), saved.clock, saved.parallelism, parallelism);
        } else if (choice < 12 && domain == TimeDomain.EVENT_TIME) {
          watermarks();
        } else {
          send(numbers.nextInt(subtasks.size()));
        }
      }
    } finally {
      subtasks.forEach(AggregateChain::close);
    }
    return begun;
  }

  private void open(
      List<OperatorSubtaskState> state,
      Model newModel,
      long clock,
      int oldParallelism,
      int parallelism)
      throws Exception {
    subtasks.forEach(AggregateChain::close);
    subtasks.clear();
    clocks.clear();
    model = newModel;
    for (int subtask = 0; subtask < parallelism; subtask++) {
      List<Long> machines = new ArrayList<>();
      for (int position = 0; position <= plan.keptArguments().size(); position++) {
        machines.add(time + numbers.nextInt(200) - 100);
      }
      boolean isChained = numbers.nextBoolean();
      subtasks.add(
          AggregateChain.open(
              device, plan, subtask, parallelism, state, oldParallelism, machines, isChained));
      clocks.add(clock);
    }
  }

  private Saved save() throws Exception {
    List<List<OperatorSubtaskState>> states = new ArrayList<>();
    for (AggregateChain chain : subtasks) {
      states.add(chain.snapshot());
    }
    return new Saved(
        AggregateChain.whole(states), subtasks.size(), model.copy(), Collections.max(clocks));
  }

  private void watermarks() throws Exception {
    if (domain == TimeDomain.EVENT_TIME) {
      for (int subtask = 0; subtask < subtasks.size(); subtask++) {
        subtasks.get(subtask).watermark(time);
        clocks.set(subtask, Math.max(clocks.get(subtask), time));
      }
    }
  }

  // The first operator's clock may go back, and those of the others do not count.
  private void send(int subtask) throws Exception {
    AggregateChain chain = subtasks.get(subtask);
    long read = time + numbers.nextInt(40) - 20;
    chain.setProcessingTime(0, read);
    for (int position = 1; position <= plan.keptArguments().size(); position++) {
      chain.setProcessingTime(position, numbers.nextInt(5_000));
    }
    boolean isRead = domain == TimeDomain.PROCESSING_TIME;
    long now = isRead ? Math.max(clocks.get(subtask), read) : clocks.get(subtask);
    List<List<?>> rows = rows(subtask, now);
    if (!rows.isEmpty()) {
      clocks.set(subtask, now);
      List<String> changes = chain.changes(rows.toArray(List[]::new));
      assertThat(changes)
          .as("the changes of %s at %d with seed %d", rows, now, random.seed())
          .isEqualTo(model.changes(rows, now));
      begun += (int) changes.stream().filter(change -> change.startsWith("+I")).count();
    }
  }

  private List<List<?>> rows(int subtask, long now) {
    List<List<?>> rows = new ArrayList<>();
    for (int i = numbers.nextInt(4); i >= 0; i--) {
      int key = numbers.nextInt(KEYS);
      int owner =
          KeyGroupRangeAssignment.assignKeyToParallelOperator(
              key, KeyedOperatorHarness.MAX_PARALLELISM, subtasks.size());
      if (owner == subtask) {
        rows.add(model.nextRow(key, now, numbers));
      }
    }
    return rows;
  }
}
