// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transfer;

import java.util.concurrent.ScheduledFuture;
import org.apache.flink.annotation.Internal;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Runs an action when the rows that an operator holds back are due. It registers one timer at a
 * time: a timer that fires before the current deadline registers the next one, so that a deadline
 * that is cleared costs no timer. Used by the task's thread.
 */
@Internal
public final class Deadline implements AutoCloseable {
  private final ProcessingTimeService time;
  private final ThrowingRunnable<Exception> action;
  private boolean isSet;
  private long startMillis;
  private long dueMillis;
  private ScheduledFuture<?> timer;

  /**
   * @param action clears this deadline or sets it again
   */
  public Deadline(ProcessingTimeService time, ThrowingRunnable<Exception> action) {
    this.time = time;
    this.action = action;
  }

  public boolean isSet() {
    return isSet;
  }

  /**
   * Sets the deadline.
   *
   * @param newStartMillis the processing time at which the first row was held back
   * @param newDueMillis the processing time of the action
   */
  public void set(long newStartMillis, long newDueMillis) {
    isSet = true;
    startMillis = newStartMillis;
    dueMillis = newDueMillis;
    if (timer == null) {
      registerTimer();
    }
  }

  /** Nothing is held back any more. */
  public void clear() {
    isSet = false;
  }

  private void registerTimer() {
    timer = time.registerTimer(dueMillis, now -> onTimer());
  }

  private void onTimer() throws Exception {
    timer = null;
    if (!isSet) {
      return;
    }
    if (isDue()) {
      action.run();
    } else {
      registerTimer();
    }
  }

  // If the clock was set back, the age of the rows is unknown.
  private boolean isDue() {
    long now = time.getCurrentProcessingTime();
    return now >= dueMillis || now < startMillis;
  }

  /** Cancels the timer. */
  @Override
  public void close() {
    if (timer != null) {
      timer.cancel(false);
    }
  }
}
