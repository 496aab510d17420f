// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.operators.window.TimeWindow.Function;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.api.common.typeutils.base.StringSerializer;
import org.apache.flink.api.common.typeutils.base.array.LongPrimitiveArraySerializer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.apache.flink.runtime.state.StateInitializationContext;

/** What a checkpoint says about the windows of all subtasks, beside their rows. */
final class WindowProgress {
  // Of all subtasks, without their key groups: what checkpoints had before.
  private static final String WATERMARKS = "watermark";

  /**
   * Up to which watermark a subtask had fired the windows of its key groups.
   *
   * @param watermark or processing time
   */
  private record Fired(KeyGroupRange keyGroups, long watermark) {

    static Fired of(long[] words) {
      return new Fired(KeyGroupRange.of((int) words[0], (int) words[1]), words[2]);
    }

    long[] words() {
      return new long[] {keyGroups.getStartKeyGroup(), keyGroups.getEndKeyGroup(), watermark};
    }
  }

  private final KeyGroupRange keyGroups;
  private final String shape;
  private final boolean isEarly;
  private final ListState<long[]> fired;
  // An element for each subtask.
  private final ListState<String> shapes;
  // An element for each subtask whose windows emitted early results.
  private final ListState<Long> earlyResults;
  private final List<Fired> restored = new ArrayList<>();

  /**
   * @param keyGroups of the subtask
   */
  WindowProgress(
      StateInitializationContext context, KeyGroupRange keyGroups, WindowAggregatePlan plan)
      throws Exception {
    this.keyGroups = keyGroups;
    this.shape = shape(plan);
    this.isEarly = plan.isEarly();
    OperatorStateStore store = context.getOperatorStateStore();
    this.fired = union(store, "fired", LongPrimitiveArraySerializer.INSTANCE);
    this.shapes = union(store, "windows", StringSerializer.INSTANCE);
    this.earlyResults = union(store, "early-results", LongSerializer.INSTANCE);
    if (context.isRestored()) {
      restore(store);
    }
  }

  // What the rows of slices depend on, such as "HOP(size=[10 s], slide=[2 s]) of event time in
  // Europe/Paris".
  private static String shape(WindowAggregatePlan plan) {
    TimeWindow window = plan.window();
    boolean isLocal = !window.isSession() && !plan.zone().normalized().equals(ZoneOffset.UTC);
    // Without allowed lateness, slices that have fired are merged.
    boolean keepsSlices =
        window.function() == Function.CUMULATE && !plan.allowedLateness().isZero();
    return window.shape()
        + (isLocal ? " in " + plan.zone() : "")
        + (keepsSlices ? " with allowedLateness" : "");
  }

  private static <T> ListState<T> union(
      OperatorStateStore store, String name, TypeSerializer<T> serializer) throws Exception {
    return store.getUnionListState(new ListStateDescriptor<>(name, serializer));
  }

  private void restore(OperatorStateStore store) throws Exception {
    for (long[] words : fired.get()) {
      restored.add(Fired.of(words));
    }
    if (store.getRegisteredStateNames().contains(WATERMARKS)) {
      ListState<Long> watermarks = union(store, WATERMARKS, LongSerializer.INSTANCE);
      for (long watermark : watermarks.get()) {
        // Any subtask may have written the rows.
        restored.add(new Fired(keyGroups, watermark));
      }
      // Flink writes states that nobody changes to each further checkpoint as they were.
      watermarks.clear();
    }
    // A clock is no watermark; where rows of other windows are left, they are refused.
    for (String checkpoint : shapes.get()) {
      if (!checkpoint.equals(shape)) {
        restored.clear();
      }
    }
  }

  /**
   * The watermark that all subtasks had reached that had key groups of this subtask: with a larger
   * one, windows would count as fired that have not. {@code Long.MIN_VALUE} if there is none.
   */
  long restoredWatermark() {
    return restoredWatermark(keyGroups);
  }

  /** As {@link #restoredWatermark()}, of the subtasks that had some of these key groups. */
  long restoredWatermark(KeyGroupRange some) {
    long least = Long.MAX_VALUE;
    for (Fired subtask : restored) {
      if (subtask.keyGroups.getIntersection(some).getNumberOfKeyGroups() > 0) {
        least = Math.min(least, subtask.watermark);
      }
    }
    return least == Long.MAX_VALUE ? Long.MIN_VALUE : least;
  }

  /**
   * Checks that the rows of a checkpoint are of these windows; and that they were emitted if
   * windows emit early results, and were not if they do not. The first checkpoints of windows do
   * not say of which windows they are.
   *
   * @throws IllegalStateException if it is not so
   */
  void check() throws Exception {
    for (String checkpoint : shapes.get()) {
      if (!checkpoint.equals(shape)) {
        throw new IllegalStateException(
            "expected a checkpoint of " + shape + ", got one of " + checkpoint);
      }
    }
    boolean wasEarly = earlyResults.get().iterator().hasNext();
    if (isEarly != wasEarly) {
      throw new IllegalStateException(
          "expected a checkpoint of windows "
              + (isEarly ? "with" : "without")
              + " earlyFiring, got one "
              + (wasEarly ? "with" : "without")
              + " it: which of its rows were emitted is not known");
    }
  }

  /** Sets what the next checkpoint says. */
  void update(long watermark) throws Exception {
    shapes.update(List.of(shape));
    fired.update(List.of(new Fired(keyGroups, watermark).words()));
    earlyResults.update(isEarly ? List.of(1L) : List.of());
  }
}
