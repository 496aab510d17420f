// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.device.Device;
import io.millrace.memory.SpillTier;
import io.millrace.memory.spill.SpillQuota;
import io.millrace.memory.spill.SpillStatistics;
import io.millrace.memory.spill.SpillStatistics.Exposure;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * The metrics of a job's memory in a TaskManager. Each task of the job in the TaskManager reports
 * them, with the same values.
 *
 * <ul>
 *   <li>Group {@code memory}: the gauges {@code deviceBytes}, {@code hostBytes} and {@code
 *       diskBytes}, in use now; and the gauge {@code stagingBytes}, the pinned memory for transfers
 *       to and from the device, of all jobs together.
 *   <li>Group {@code spill}, since the job began: for each pair of tiers, such as {@code
 *       gpu_to_cpu}, the gauges {@code count}, {@code bytes} and {@code millis}, which stay 0 at
 *       level 0 of {@link MemoryOptions#SPILL_STATISTICS_LEVEL}; and the gauges {@code
 *       exposures.count} and {@code exposures.bytes}, which stay 0 below level 2.
 * </ul>
 */
final class MemoryMetrics {
  private MemoryMetrics() {}

  /** Registers the metrics in the group of a task; Flink removes them with the group. */
  static void register(MetricGroup task, SpillQuota quota, Device device) {
    MetricGroup memory = task.addGroup("memory");
    gauge(memory, "deviceBytes", quota::deviceBytes);
    gauge(memory, "hostBytes", quota::hostBytes);
    gauge(memory, "diskBytes", quota::diskBytes);
    gauge(memory, "stagingBytes", device.stagingPool()::pinnedBytes);
    MetricGroup spill = task.addGroup("spill");
    SpillStatistics statistics = quota.statistics();
    for (SpillTier from : SpillTier.values()) {
      for (SpillTier to : SpillTier.values()) {
        if (from != to && !(from == SpillTier.DISK && to == SpillTier.HOST)) {
          registerMoves(spill, statistics, from, to);
        }
      }
    }
    MetricGroup exposures = spill.addGroup("exposures");
    gauge(exposures, "count", () -> sum(statistics, Exposure::count));
    gauge(exposures, "bytes", () -> sum(statistics, Exposure::totalBytes));
  }

  private static void registerMoves(
      MetricGroup spill, SpillStatistics statistics, SpillTier from, SpillTier to) {
    MetricGroup moves = spill.addGroup(from.label() + "_to_" + to.label());
    gauge(moves, "count", () -> statistics.count(from, to));
    gauge(moves, "bytes", () -> statistics.bytes(from, to));
    gauge(moves, "millis", () -> TimeUnit.NANOSECONDS.toMillis(statistics.nanos(from, to)));
  }

  private static long sum(SpillStatistics statistics, ToLongFunction<Exposure> value) {
    return statistics.exposures().stream().mapToLong(value).sum();
  }

  private static void gauge(MetricGroup group, String name, LongSupplier value) {
    group.<Long, Gauge<Long>>gauge(name, value::getAsLong);
  }
}
