// SPDX-License-Identifier: Apache-2.0
package io.millrace.postgres;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;

/**
 * Hands elements on, slowly until {@link #hurry}, and throws at points that a test asks for. The
 * function of a test and its copies in the job's operators have the same number.
 *
 * @param <T> the elements
 */
final class Failures<T> implements MapFunction<T, T>, CheckpointedFunction, CheckpointListener {
  private static final long serialVersionUID = 1L;
  private static final AtomicLong NEXT = new AtomicLong();
  private static final Map<Long, State> STATES = new ConcurrentHashMap<>();
  private static final long MILLIS_PER_ELEMENT = 20;

  private final long number = NEXT.getAndIncrement();

  /** Where a task fails. */
  enum Point {
    /** Between two checkpoints, with rows that were staged since the last one. */
    BETWEEN_CHECKPOINTS,
    /** When the task takes its snapshot: the checkpoint does not complete. */
    IN_SNAPSHOT,
    /** When the checkpoint is complete, about when the sink commits. */
    BEHIND_CHECKPOINT
  }

  private static final class State {
    private final Map<Point, AtomicInteger> wanted = new EnumMap<>(Point.class);
    private final AtomicInteger checkpoints = new AtomicInteger();
    private volatile boolean isInHurry;

    State() {
      for (Point point : Point.values()) {
        wanted.put(point, new AtomicInteger());
      }
    }
  }

  Failures() {
    STATES.put(number, new State());
  }

  private State state() {
    return STATES.get(number);
  }

  /** Lets some task fail the next time that it comes to {@code point}. */
  void failAt(Point point) {
    state().wanted.get(point).incrementAndGet();
  }

  /** Whether each failure that was asked for has happened. */
  boolean haveHappened() {
    return state().wanted.values().stream().allMatch(wanted -> wanted.get() == 0);
  }

  /** How often a task heard of a completed checkpoint. */
  int checkpoints() {
    return state().checkpoints.get();
  }

  /** Hands on all that is left without delay, and fails no more. */
  void hurry() {
    state().isInHurry = true;
  }

  private void failIfWanted(Point point) {
    AtomicInteger wanted = state().wanted.get(point);
    if (!state().isInHurry && wanted.getAndUpdate(count -> Math.max(0, count - 1)) > 0) {
      throw new IllegalStateException("failing as the test asked for: " + point);
    }
  }

  @Override
  public T map(T value) throws Exception {
    if (!state().isInHurry) {
      Thread.sleep(MILLIS_PER_ELEMENT);
    }
    failIfWanted(Point.BETWEEN_CHECKPOINTS);
    return value;
  }

  @Override
  public void snapshotState(FunctionSnapshotContext context) {
    failIfWanted(Point.IN_SNAPSHOT);
  }

  @Override
  public void initializeState(FunctionInitializationContext context) {}

  @Override
  public void notifyCheckpointComplete(long checkpointId) {
    state().checkpoints.incrementAndGet();
    failIfWanted(Point.BEHIND_CHECKPOINT);
  }
}
