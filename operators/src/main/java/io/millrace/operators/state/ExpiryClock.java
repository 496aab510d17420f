// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.state.row.UpdateTime;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;

/** The clock by which rows of keyed state expire. It does not go back. Used by one thread. */
interface ExpiryClock {
  /** The time of an update of now. */
  UpdateTime now();

  /** Tells a clock that does not read the time by itself what time it is, in milliseconds. */
  default void advance(long time) {}

  /** Sets what the next checkpoint says. */
  default void snapshot() throws Exception {}

  /**
   * The clock of the machine.
   *
   * @param timeToLive in milliseconds
   */
  static ExpiryClock ofMachine(ProcessingTimeService machine, long timeToLive) {
    return new ExpiryClock() {
      // The machine's clock may go back.
      private long latest = Long.MIN_VALUE;

      @Override
      public UpdateTime now() {
        latest = Math.max(latest, machine.getCurrentProcessingTime());
        return UpdateTime.of(latest, timeToLive);
      }
    };
  }
}
