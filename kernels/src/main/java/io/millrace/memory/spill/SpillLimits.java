// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.annotation.PublicEvolving;
import io.millrace.memory.MemoryResource;
import java.nio.file.Path;
import java.util.List;

/**
 * The limits of a job's {@link SpillQuota}.
 *
 * @param isEnabled whether buffers are spillable at all
 * @param copyOnWrite see {@link MemoryResource#copiesOnWrite}
 * @param deviceBytes limit of device memory; soft: memory in use is not spilled, so more may be
 *     held
 * @param hostBytes limit of pinned host memory that holds spilled buffers
 * @param diskBytes limit of disk space that holds spilled buffers
 * @param directories where files for spilled buffers are made; empty for no disk tier
 * @param statisticsLevel see {@link SpillStatistics}
 */
@PublicEvolving
public record SpillLimits(
    boolean isEnabled,
    boolean copyOnWrite,
    long deviceBytes,
    long hostBytes,
    long diskBytes,
    List<Path> directories,
    int statisticsLevel) {
  /** Spilling to the host alone, copy-on-write, no limits, statistics of level 1. */
  public static final SpillLimits DEFAULT =
      new SpillLimits(true, true, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE, List.of(), 1);

  /**
   * @throws IllegalArgumentException if a limit is negative or there is no such statistics level
   */
  public SpillLimits {
    directories = List.copyOf(directories);
    checkNotNegative("device", deviceBytes);
    checkNotNegative("host", hostBytes);
    checkNotNegative("disk", diskBytes);
  }

  private static void checkNotNegative(String tier, long bytes) {
    if (bytes < 0) {
      throw new IllegalArgumentException("the " + tier + " limit is negative: " + bytes);
    }
  }

  /** The same with another limit of device memory. */
  public SpillLimits withDeviceBytes(long bytes) {
    return new SpillLimits(
        isEnabled, copyOnWrite, bytes, hostBytes, diskBytes, directories, statisticsLevel);
  }

  /** The same with another limit of host memory. */
  public SpillLimits withHostBytes(long bytes) {
    return new SpillLimits(
        isEnabled, copyOnWrite, deviceBytes, bytes, diskBytes, directories, statisticsLevel);
  }

  /** The same with a disk tier of at most {@code bytes} bytes. */
  public SpillLimits withDisk(List<Path> diskDirectories, long bytes) {
    return new SpillLimits(
        isEnabled, copyOnWrite, deviceBytes, hostBytes, bytes, diskDirectories, statisticsLevel);
  }

  /** The same with copy-on-write on or off. */
  public SpillLimits withCopyOnWrite(boolean on) {
    return new SpillLimits(
        isEnabled, on, deviceBytes, hostBytes, diskBytes, directories, statisticsLevel);
  }

  /** The same with buffers that are spillable or not. */
  public SpillLimits withSpilling(boolean on) {
    return new SpillLimits(
        on, copyOnWrite, deviceBytes, hostBytes, diskBytes, directories, statisticsLevel);
  }

  /** The same with another level of statistics. */
  public SpillLimits withStatisticsLevel(int level) {
    return new SpillLimits(
        isEnabled, copyOnWrite, deviceBytes, hostBytes, diskBytes, directories, level);
  }
}
