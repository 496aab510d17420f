// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.state.row.UpdateTime;
import java.util.List;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.base.array.LongPrimitiveArraySerializer;
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
    this.clocks = clocks(context.getOperatorStateStore());
    if (context.isRestored()) {
      restore();
    }
  }

  /**
   * Forgets the clocks of a restored checkpoint: without rows that expire by event time, they do
   * not go on. Flink writes states that nobody registers to each further checkpoint as they were.
   */
  static void forget(OperatorStateStore store) throws Exception {
    if (store.getRegisteredStateNames().contains(NAME)) {
      clocks(store).clear();
    }
  }

  private static ListState<long[]> clocks(OperatorStateStore store) throws Exception {
    return store.getUnionListState(
        new ListStateDescriptor<>(NAME, LongPrimitiveArraySerializer.INSTANCE));
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
    // The smallest number is the time of no row.
    long now = Math.max(latest, NONE + 1);
    long oldest = UpdateTime.of(watermark, timeToLive).oldest();
    return new UpdateTime(now, oldest > firstWatermark ? oldest : NONE);
  }
}
