// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.memory.spill.SpillLimits;
import io.millrace.memory.spill.SpillStatistics;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;

/**
 * The options of device memory and of spilling. Each is looked up in the job's configuration, then
 * in the TaskManager's, then in the system properties of the process. What concerns all jobs of a
 * process together is read when the first of them uses the device; a job that sets it to a value of
 * its own fails when it starts.
 */
@PublicEvolving
public final class MemoryOptions {
  /** Whether buffers move to host memory and disk when device memory runs out. */
  public static final ConfigOption<Boolean> SPILL_ENABLED =
      ConfigOptions.key("millrace.spill.enabled")
          .booleanType()
          .defaultValue(true)
          .withDescription(
              "Whether buffers that are not in use move to host memory and disk when device memory"
                  + " runs out.");

  /** Whether to spill when the device refuses memory, and not only at a limit. */
  public static final ConfigOption<Boolean> SPILL_ON_DEMAND =
      ConfigOptions.key("millrace.spill.on-demand")
          .booleanType()
          .defaultValue(true)
          .withDescription(
              "Whether to spill when the device has no memory left, and not only at a limit. Of"
                  + " the TaskManager, for all its jobs.");

  /** The limit of the job's device memory; in the TaskManager's configuration, of all jobs. */
  public static final ConfigOption<MemorySize> SPILL_DEVICE_LIMIT =
      ConfigOptions.key("millrace.spill.device-limit")
          .memoryType()
          .noDefaultValue()
          .withDescription(
              "Device memory beyond which buffers that are not in use are spilled: in the job's"
                  + " configuration of that job, in the TaskManager's of all its jobs. Must hold"
                  + " the largest column of a batch.");

  /** Bounds the pinned host memory that holds a job's spilled buffers. */
  public static final ConfigOption<MemorySize> SPILL_HOST_LIMIT =
      ConfigOptions.key("millrace.spill.host-limit")
          .memoryType()
          .noDefaultValue()
          .withDescription(
              "Pinned host memory that holds a job's spilled buffers in one TaskManager, at most;"
                  + " further ones go to disk. 0 for none.");

  /** Bounds the disk that holds a job's spilled buffers. */
  public static final ConfigOption<MemorySize> SPILL_DISK_LIMIT =
      ConfigOptions.key("millrace.spill.disk-limit")
          .memoryType()
          .noDefaultValue()
          .withDescription(
              "Disk that holds a job's spilled buffers in one TaskManager, at most. 0 for none.");

  /** See {@link SpillStatistics}. */
  public static final ConfigOption<Integer> SPILL_STATISTICS_LEVEL =
      ConfigOptions.key("millrace.spill.statistics-level")
          .intType()
          .defaultValue(1)
          .withDescription(
              "0 counts nothing, 1 the bytes and times of spilling, 2 also where memory was"
                  + " exposed, which makes it unspillable.");

  /** Whether shared memory is copied only when it is written to. */
  public static final ConfigOption<Boolean> COPY_ON_WRITE =
      ConfigOptions.key("millrace.copy-on-write")
          .booleanType()
          .defaultValue(true)
          .withDescription("Whether a copy shares its memory until one of the two is written to.");

  /** The share of a slot's managed memory; read when the job is built. */
  public static final ConfigOption<Integer> MANAGED_WEIGHT =
      ConfigOptions.key("millrace.spill.managed-weight")
          .intType()
          .defaultValue(1)
          .withDescription(
              "Weight with which each operator asks for managed memory, beside the others of its"
                  + " slot. Flink SQL's operators have the mebibytes that they want, and at least 1:"
                  + " a window has 1, a sort 128. Read when the job is built.");

  /** The limit of the device memory of the process. */
  public static final ConfigOption<MemorySize> DEVICE_MEMORY_LIMIT =
      ConfigOptions.key("millrace.device.memory-limit")
          .memoryType()
          .noDefaultValue()
          .withDescription(
              "Device memory that a TaskManager takes of each device, at most, for all its jobs.");

  private static final List<ConfigOption<?>> OF_PROCESS =
      List.of(SPILL_ON_DEMAND, DEVICE_MEMORY_LIMIT, DeviceOptions.GPU_CONCURRENCY);

  private MemoryOptions() {}

  /**
   * The limits of a job.
   *
   * @param directories of the disk tier
   * @throws IllegalArgumentException if an option has a value that it cannot have, or one of the
   *     job's own that concerns all jobs; names the option
   */
  static SpillLimits jobLimits(LayeredOptions options, List<Path> directories) {
    OF_PROCESS.forEach(options::requireOfProcess);
    long diskBytes = bytes(options.find(SPILL_DISK_LIMIT));
    return new SpillLimits(
        options.get(SPILL_ENABLED),
        options.get(COPY_ON_WRITE),
        positiveBytes(SPILL_DEVICE_LIMIT, options.ofJob(SPILL_DEVICE_LIMIT)),
        bytes(options.find(SPILL_HOST_LIMIT)),
        diskBytes,
        diskBytes == 0 ? List.of() : directories,
        statisticsLevel(options));
  }

  /**
   * The weight that a job's operators declare.
   *
   * @throws IllegalArgumentException if it is below 1
   */
  static int managedWeight(ReadableConfig job) {
    int weight = job.get(MANAGED_WEIGHT);
    if (weight < 1) {
      throw new IllegalArgumentException(
          MANAGED_WEIGHT.key() + ": expected at least 1, got " + weight);
    }
    return weight;
  }

  private static int statisticsLevel(LayeredOptions options) {
    int level = options.get(SPILL_STATISTICS_LEVEL);
    if (level < 0 || level > 2) {
      throw new IllegalArgumentException(
          SPILL_STATISTICS_LEVEL.key() + ": expected 0, 1 or 2, got " + level);
    }
    return level;
  }

  /** The process's bytes of {@code option}, {@link Long#MAX_VALUE} if it is not set. */
  static long processBytes(LayeredOptions options, ConfigOption<MemorySize> option) {
    return positiveBytes(option, options.ofProcess(option));
  }

  private static long positiveBytes(ConfigOption<MemorySize> option, Optional<MemorySize> size) {
    long bytes = bytes(size);
    if (bytes == 0) {
      throw new IllegalArgumentException(
          option.key() + " must be more than 0; leave it unset for no limit");
    }
    return bytes;
  }

  private static long bytes(Optional<MemorySize> size) {
    return size.map(MemorySize::getBytes).orElse(Long.MAX_VALUE);
  }
}
