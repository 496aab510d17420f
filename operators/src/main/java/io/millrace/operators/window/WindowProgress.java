// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.typeutils.base.LongSerializer;
import org.apache.flink.runtime.state.StateInitializationContext;

/** What a checkpoint says about the windows of all subtasks, beside their rows. */
final class WindowProgress {
  private final boolean isEarly;
  private final boolean isRestored;
  private final ListState<Long> watermarks;
  // An element for each subtask whose windows emitted early results.
  private final ListState<Long> earlyResults;

  /**
   * @param isEarly whether windows emit early results
   */
  WindowProgress(StateInitializationContext context, boolean isEarly) throws Exception {
    this.isEarly = isEarly;
    this.isRestored = context.isRestored();
    this.watermarks = longs(context, "watermark");
    this.earlyResults = longs(context, "early-results");
  }

  private static ListState<Long> longs(StateInitializationContext context, String name)
      throws Exception {
    return context
        .getOperatorStateStore()
        .getUnionListState(new ListStateDescriptor<>(name, LongSerializer.INSTANCE));
  }

  /** As Flink's window operator: the watermark that all subtasks had reached. */
  long restoredWatermark() throws Exception {
    long least = Long.MAX_VALUE;
    if (isRestored) {
      for (long watermark : watermarks.get()) {
        least = Math.min(least, watermark);
      }
    }
    return least == Long.MAX_VALUE ? Long.MIN_VALUE : least;
  }

  /**
   * Checks that the rows of a checkpoint were emitted if windows emit early results, and were not
   * if they do not.
   *
   * @throws IllegalStateException if it is not so
   */
  void checkEarly() throws Exception {
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
    watermarks.update(List.of(watermark));
    earlyResults.update(isEarly ? List.of(1L) : List.of());
  }
}
