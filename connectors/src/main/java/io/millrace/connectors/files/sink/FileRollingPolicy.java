// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import java.io.IOException;
import java.time.Duration;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.streaming.api.functions.sink.filesystem.PartFileInfo;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.CheckpointRollingPolicy;

/**
 * When a subtask of a file sink closes its file and starts another: at each checkpoint, and before
 * that if the file is large or old. Files appear under their final names at the next checkpoint in
 * any case.
 */
@PublicEvolving
public final class FileRollingPolicy extends CheckpointRollingPolicy<Object, String> {
  /** Files are closed by checkpoints alone. */
  public static final FileRollingPolicy ON_CHECKPOINT =
      new FileRollingPolicy(Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

  private static final long serialVersionUID = 1L;
  private static final long MAX_CHECK_MILLIS = 60_000;

  private final long maxBytes;
  private final long maxMillis;
  private final long maxIdleMillis;

  private FileRollingPolicy(long maxBytes, long maxMillis, long maxIdleMillis) {
    this.maxBytes = maxBytes;
    this.maxMillis = maxMillis;
    this.maxIdleMillis = maxIdleMillis;
  }

  /**
   * The same policy, which also closes a file that has {@code bytes} bytes or more.
   *
   * @throws IllegalArgumentException if {@code bytes} is less than 1
   */
  public FileRollingPolicy withMaxBytes(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("expected at least 1 byte, got " + bytes);
    }
    return new FileRollingPolicy(bytes, maxMillis, maxIdleMillis);
  }

  /**
   * The same policy, which also closes a file that was started {@code age} ago. The ages of files
   * are looked at after each such time, and once a minute at least: a file may become twice as old,
   * or a minute older.
   *
   * @throws IllegalArgumentException if {@code age} is less than 1 ms
   */
  public FileRollingPolicy withMaxAge(Duration age) {
    return new FileRollingPolicy(maxBytes, millis(age), maxIdleMillis);
  }

  /**
   * The same policy, which also closes a file that nothing was written to for {@code time}, looked
   * at as ages are.
   *
   * @throws IllegalArgumentException if {@code time} is less than 1 ms
   */
  public FileRollingPolicy withMaxIdleTime(Duration time) {
    return new FileRollingPolicy(maxBytes, maxMillis, millis(time));
  }

  private static long millis(Duration time) {
    if (time.toMillis() < 1) {
      throw new IllegalArgumentException("expected at least 1 ms, got " + time);
    }
    return time.toMillis();
  }

  /** This policy for elements of a type; it looks at none. */
  @SuppressWarnings("unchecked")
  <T> CheckpointRollingPolicy<T, String> policy() {
    return (CheckpointRollingPolicy<T, String>) (CheckpointRollingPolicy<?, String>) this;
  }

  /** The time between looks at the ages of files, in milliseconds. */
  long checkMillis() {
    return Math.min(Math.min(maxMillis, maxIdleMillis), MAX_CHECK_MILLIS);
  }

  @Override
  public boolean shouldRollOnEvent(PartFileInfo<String> file, Object element) throws IOException {
    return file.getSize() >= maxBytes;
  }

  @Override
  public boolean shouldRollOnProcessingTime(PartFileInfo<String> file, long now) {
    return now - file.getCreationTime() >= maxMillis
        || now - file.getLastUpdateTime() >= maxIdleMillis;
  }
}
