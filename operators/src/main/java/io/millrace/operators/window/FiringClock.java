// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.window;

import io.millrace.operators.transfer.ControlEvent;
import io.millrace.operators.transfer.Deadline;
import java.util.OptionalLong;
import java.util.function.LongConsumer;
import java.util.function.Supplier;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;

/**
 * The clock of windows of processing time, which fires them by a timer. It is the clock of the
 * machine, but while that one is set back, time stands still. Used by the task's thread.
 */
final class FiringClock implements AutoCloseable {
  private final ProcessingTimeService machine;
  private final LongConsumer fire;
  private final Supplier<OptionalLong> nextFiringTime;
  private final Deadline nextFiring;
  private long latest;
  private boolean isStopped;

  /**
   * @param earliest no time is before it
   * @param fire fires the windows that end by a time
   * @param nextFiringTime when the next window ends; empty if none does
   */
  FiringClock(
      ProcessingTimeService machine,
      long earliest,
      LongConsumer fire,
      Supplier<OptionalLong> nextFiringTime) {
    this.machine = machine;
    this.latest = earliest;
    this.fire = fire;
    this.nextFiringTime = nextFiringTime;
    this.nextFiring = new Deadline(machine, this::onTimer);
  }

  /** The time, in milliseconds since the epoch: never less than before. */
  long now() {
    if (!isStopped) {
      latest = Math.max(latest, machine.getCurrentProcessingTime());
    }
    return latest;
  }

  /** Sets a timer for the next window, unless there is one. */
  void awaitNextFiring() {
    if (!nextFiring.isSet()) {
      nextFiringTime.get().ifPresent(time -> nextFiring.set(now(), time));
    }
  }

  private void onTimer() {
    fire.accept(now());
    nextFiring.clear();
    awaitNextFiring();
  }

  /**
   * Fires the windows that are due before a barrier, so that each subtask's time in a checkpoint is
   * that of its barrier, also if it has no rows. Fires those that are due at the end of the input,
   * and none behind it.
   */
  void flush(ControlEvent event) {
    if (event == ControlEvent.BARRIER || event == ControlEvent.END_OF_INPUT) {
      // This millisecond may have further rows.
      fire.accept(now() - 1);
    }
    if (event == ControlEvent.END_OF_INPUT) {
      isStopped = true;
      nextFiring.clear();
    }
  }

  /** Cancels the timer. */
  @Override
  public void close() {
    nextFiring.close();
  }
}
