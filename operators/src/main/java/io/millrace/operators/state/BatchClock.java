// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.state.row.UpdateTime;
import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.runtime.state.StateInitializationContext;

/**
 * The clock of operators that keep parts of the state of a key, one behind the other: the first one
 * reads the machine's clock for each batch, and the others get the time with the batch. So all of
 * them have the same time for a batch, and the rows of a key expire together.
 *
 * <p>A checkpoint has the clock of each subtask. A restored one goes on from the latest of them,
 * which all of the operators know: a row that had expired, and may be removed in one operator and
 * not yet in another, does not live again. Rows of unknown age count as updated at the first batch
 * behind the restore.
 */
final class BatchClock implements ExpiryClock {
  private static final long NONE = Long.MIN_VALUE;
  private static final long UNTIL_FIRST_BATCH = Long.MAX_VALUE;
  private static final String NAME = "batch-clock";

  private final long timeToLive;
  private final ListState<long[]> clocks;
  private long time = NONE;
  // When rows of unknown age, which have the least time, count as updated.
  private long origin = NONE;

  /**
   * @param timeToLive in milliseconds
   */
  BatchClock(long timeToLive, StateInitializationContext context) throws Exception {
    this.timeToLive = timeToLive;
    this.clocks = ExpiryClock.ofSubtasks(context.getOperatorStateStore(), NAME);
    if (context.isRestored()) {
      restore();
    }
  }

  private void restore() throws Exception {
    boolean hasClocks = false;
    for (long[] clock : clocks.get()) {
      time = Math.max(time, clock[0]);
      origin = Math.max(origin, clock[1]);
      hasClocks = true;
    }
    if (!hasClocks) {
      origin = UNTIL_FIRST_BATCH;
    }
  }

  /** Whether a restored checkpoint has such clocks. */
  static boolean isIn(OperatorStateStore store) {
    return store.getRegisteredStateNames().contains(NAME);
  }

  /** As {@link ExpiryClock#forget}. */
  static void forget(OperatorStateStore store) throws Exception {
    ExpiryClock.forget(store, NAME);
  }

  @Override
  public void snapshot() throws Exception {
    clocks.update(List.of(new long[] {time, origin}));
  }

  @Override
  public void advance(long batchTime) {
    time = Math.max(time, batchTime);
    if (origin == UNTIL_FIRST_BATCH) {
      origin = time;
    }
  }

  /** The time of the current batch. */
  long time() {
    return time;
  }

  @Override
  public UpdateTime now() {
    return ExpiryClock.updateTime(time, time, origin, timeToLive);
  }
}
