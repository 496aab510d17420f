// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.records;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.annotation.Internal;
import org.apache.flink.api.common.eventtime.BoundedOutOfOrdernessWatermarks;
import org.apache.flink.api.common.eventtime.WatermarkGenerator;
import org.apache.flink.api.common.eventtime.WatermarkOutput;
import org.apache.flink.api.common.eventtime.WatermarkOutputMultiplexer;
import org.apache.flink.api.common.eventtime.WatermarksWithIdleness;
import org.apache.flink.util.clock.RelativeClock;

/**
 * The watermarks of the partitions that a subtask reads, and the least of them. Used by the thread
 * of the task.
 */
@Internal
public final class PartitionWatermarks {
  // Holds the watermark back until the first partition is known, or for the idle time-out.
  private static final String NO_PARTITION = "";

  private final EventTimeWatermarks options;
  private final RelativeClock clock;
  private final WatermarkOutputMultiplexer multiplexer;
  private final Map<String, WatermarkGenerator<Void>> generators = new HashMap<>();

  /**
   * @param output of the subtask's watermarks
   * @param clock stands still while the subtask cannot send
   */
  PartitionWatermarks(EventTimeWatermarks options, WatermarkOutput output, RelativeClock clock) {
    this.options = options;
    this.clock = clock;
    this.multiplexer = new WatermarkOutputMultiplexer(output);
    register(NO_PARTITION);
  }

  /** Lets a partition hold the watermark back, from now on until {@link #remove}. */
  public void add(String partition) {
    if (!generators.containsKey(partition)) {
      register(partition);
      unregister(NO_PARTITION);
    }
  }

  /** Ends a partition, which holds the watermark back no more. */
  public void remove(String partition) {
    unregister(partition);
  }

  private void register(String partition) {
    multiplexer.registerNewOutput(partition);
    generators.put(partition, generator());
  }

  private WatermarkGenerator<Void> generator() {
    WatermarkGenerator<Void> bounded = new BoundedOutOfOrdernessWatermarks<>(options.delay());
    return options.idleTimeout() == null
        ? bounded
        : new WatermarksWithIdleness<>(bounded, options.idleTimeout(), clock);
  }

  private void unregister(String partition) {
    if (generators.remove(partition) != null) {
      multiplexer.unregisterOutput(partition);
    }
  }

  /**
   * Notes that rows of a partition were sent.
   *
   * @param time the greatest of the rows, in milliseconds
   */
  void advance(String partition, long time) {
    add(partition);
    generators.get(partition).onEvent(null, time, multiplexer.getDeferredOutput(partition));
  }

  /** Sends the watermark, if it has changed. */
  void emit() {
    generators.forEach(
        (partition, generator) ->
            generator.onPeriodicEmit(multiplexer.getDeferredOutput(partition)));
    multiplexer.onPeriodicEmit();
  }
}
