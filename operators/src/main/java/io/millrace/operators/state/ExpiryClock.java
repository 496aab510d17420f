// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.state;

import io.millrace.state.row.UpdateTime;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.base.array.LongPrimitiveArraySerializer;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;

/** The clock by which rows of keyed state expire. It does not go back. Used by one thread. */
interface ExpiryClock {
  /** The time of an update of now. */
  UpdateTime now();

  /** Tells a clock that does not read the time by itself what time it is, in milliseconds. */
  default void advance(long time) {}

  /** Sets what the next checkpoint says. */
  default void snapshot() throws Exception {}

  /** What a checkpoint says of the clocks of all subtasks, under a name. */
  static ListState<long[]> ofSubtasks(OperatorStateStore store, String name) throws Exception {
    return store.getUnionListState(
        new ListStateDescriptor<>(name, LongPrimitiveArraySerializer.INSTANCE));
  }

  /**
   * Forgets the clocks of a restored checkpoint: without rows that expire by them, they do not go
   * on. Flink writes states that nobody registers to each further checkpoint as they were.
   */
  static void forget(OperatorStateStore store, String name) throws Exception {
    if (store.getRegisteredStateNames().contains(name)) {
      ofSubtasks(store, name).clear();
    }
  }

  /**
   * The time of an update, where rows of unknown age count as updated at {@code origin}.
   *
   * @param latest the time that rows get
   * @param time by which rows expire
   * @param timeToLive in milliseconds
   */
  static UpdateTime updateTime(long latest, long time, long origin, long timeToLive) {
    // The smallest number is the time of no row.
    long now = Math.max(latest, Long.MIN_VALUE + 1);
    long oldest = UpdateTime.of(time, timeToLive).oldest();
    return new UpdateTime(now, oldest > origin ? oldest : Long.MIN_VALUE);
  }

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
