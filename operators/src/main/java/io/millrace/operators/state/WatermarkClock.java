// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.state.row.UpdateTime;
import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.runtime.state.StateInitializationContext;

/**
 * The clock of rows that expire by event time: the watermark of the operator. Rows that are updated
 * before the first watermark count as updated at it. The end of the input is no time.
 *
 * <p>A checkpoint has the clock of each subtask. A restored one goes on from the smallest of their
 * watermarks, so that no row expires early; and updates get at least the largest of them, so that
 * no row becomes older. In between, a row stays longer by the difference at most.
 */
final class WatermarkClock implements ExpiryClock {
  private static final long NONE = Long.MIN_VALUE;
  private static final String NAME = "watermark-clock";

  private final long timeToLive;
  private final ListState<long[]> clocks;
  private long watermark = NONE;
  private long firstWatermark = NONE;
  // The largest watermark of this subtask, and of all subtasks in the restored checkpoint.
  private long latest = NONE;

  /**
   * @param timeToLive in milliseconds
   */
  WatermarkClock(long timeToLive, StateInitializationContext context) throws Exception {
    this.timeToLive = timeToLive;
    this.clocks = ExpiryClock.ofSubtasks(context.getOperatorStateStore(), NAME);
    if (context.isRestored()) {
      restore();
    }
  }

  /** As {@link ExpiryClock#forget}. */
  static void forget(OperatorStateStore store) throws Exception {
    ExpiryClock.forget(store, NAME);
  }

  private void restore() throws Exception {
    long least = Long.MAX_VALUE;
    long lastFirst = NONE;
    for (long[] clock : clocks.get()) {
      least = Math.min(least, clock[0]);
      lastFirst = Math.max(lastFirst, clock[1]);
      latest = Math.max(latest, clock[2]);
    }
    if (least != NONE && least != Long.MAX_VALUE) {
      watermark = least;
      firstWatermark = lastFirst;
    }
  }

  @Override
  public void snapshot() throws Exception {
    clocks.update(List.of(new long[] {watermark, firstWatermark, latest}));
  }

  @Override
  public void advance(long mark) {
    if (mark == Long.MAX_VALUE || mark <= watermark) {
      return;
    }
    if (watermark == NONE) {
      firstWatermark = mark;
    }
    watermark = mark;
    latest = Math.max(latest, mark);
  }

  @Override
  public UpdateTime now() {
    return ExpiryClock.updateTime(latest, watermark, firstWatermark, timeToLive);
  }
}
