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
 * The options of device memory and of spilling. Each option is looked up in the job's
 * configuration, then in the TaskManager's, then in the system properties of the process. An option
 * that applies to all jobs of a process is read when the first job uses the device; a job that sets
 * such an option to another value fails when it starts.
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
              "Whether to spill when the device has no memory left, and not only at a limit. Set"
                  + " it in the TaskManager's configuration, for all its jobs.");

  /** The limit of the job's device memory; in the TaskManager's configuration, of all its jobs. */
  public static final ConfigOption<MemorySize> SPILL_DEVICE_LIMIT =
      ConfigOptions.key("millrace.spill.device-limit")
          .memoryType()
          .noDefaultValue()
          .withDescription(
              "Device memory beyond which buffers that are not in use are spilled: of one job in"
                  + " the job's configuration, of all its jobs in the TaskManager's configuration."
                  + " It must be large enough for the largest column of a batch.");

  /** The limit of the pinned host memory that holds a job's spilled buffers. */
  public static final ConfigOption<MemorySize> SPILL_HOST_LIMIT =
      ConfigOptions.key("millrace.spill.host-limit")
          .memoryType()
          .noDefaultValue()
          .withDescription(
              "The most pinned host memory that holds a job's spilled buffers in one TaskManager;"
                  + " further buffers are spilled to disk. With 0, all are.");

  /** The limit of the disk space that holds a job's spilled buffers. */
  public static final ConfigOption<MemorySize> SPILL_DISK_LIMIT =
      ConfigOptions.key("millrace.spill.disk-limit")
          .memoryType()
          .noDefaultValue()
          .withDescription(
              "The most disk space that holds a job's spilled buffers in one TaskManager. With 0,"
                  + " none are spilled to disk.");

  /** See {@link SpillStatistics}. */
  public static final ConfigOption<Integer> SPILL_STATISTICS_LEVEL =
      ConfigOptions.key("millrace.spill.statistics-level")
          .intType()
          .defaultValue(1)
          .withDescription(
              "0 counts nothing, 1 the bytes and times of spilling, 2 also where memory was"
                  + " exposed, which makes it unspillable.");

  /** Whether a copy shares the memory of its original until one of the two is written to. */
  public static final ConfigOption<Boolean> COPY_ON_WRITE =
      ConfigOptions.key("millrace.copy-on-write")
          .booleanType()
          .defaultValue(true)
          .withDescription(
              "Whether a copy shares memory with its original until one of the two is written"
                  + " to.");

  /** The weight of an operator's share of its slot's managed memory; read when the job is built. */
  public static final ConfigOption<Integer> MANAGED_WEIGHT =
      ConfigOptions.key("millrace.spill.managed-weight")
          .intType()
          .defaultValue(1)
          .withDescription(
              "Weight of each operator when the managed memory of its slot is divided. For"
                  + " comparison, the weight of an operator of Flink SQL is the number of mebibytes"
                  + " that it asks for, at least 1: a window has 1, a sort 128. Read when the job is"
                  + " built.");

  /** The limit of the device memory of the process. */
  public static final ConfigOption<MemorySize> DEVICE_MEMORY_LIMIT =
      ConfigOptions.key("millrace.device.memory-limit")
          .memoryType()
          .noDefaultValue()
          .withDescription(
              "The most memory that a TaskManager takes of each device, for all its jobs.");

  private static final List<ConfigOption<?>> OF_PROCESS =
      List.of(SPILL_ON_DEMAND, DEVICE_MEMORY_LIMIT, DeviceOptions.GPU_CONCURRENCY);

  private MemoryOptions() {}

  /**
   * The limits of a job.
   *
   * @param directories the directories of the disk tier
   * @throws IllegalArgumentException if an option has an invalid value, or the job sets another
   *     value of an option that applies to all jobs; the message names the option
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
   * @throws IllegalArgumentException if the weight is below 1
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

  /**
   * The value of {@code option} for the process in bytes; {@link Long#MAX_VALUE} if it is not set.
   *
   * @throws IllegalArgumentException if the value is 0
   */
  static long processBytes(LayeredOptions options, ConfigOption<MemorySize> option) {
    return positiveBytes(option, options.ofProcess(option));
  }

  private static long positiveBytes(ConfigOption<MemorySize> option, Optional<MemorySize> size) {
    long bytes = bytes(size);
    if (bytes == 0) {
      throw new IllegalArgumentException(
          option.key() + ": expected more than 0, got 0; leave it unset for no limit");
    }
    return bytes;
  }

  private static long bytes(Optional<MemorySize> size) {
    return size.map(MemorySize::getBytes).orElse(Long.MAX_VALUE);
  }
}
