// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import static org.apache.flink.configuration.ConfigOptions.key;

import io.millrace.connectors.files.sink.FileCompaction;
import io.millrace.connectors.files.sink.FileRollingPolicy;
import io.millrace.connectors.files.sink.FileSinkOptions;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;

/** The settings of when files are closed and joined, named as in Flink's SQL. */
final class EtlFileSink {
  static final ConfigOption<MemorySize> ROLLING_SIZE =
      key("sink.rolling-policy.file-size")
          .memoryType()
          .defaultValue(MemorySize.ZERO)
          .withDescription(
              "A file is closed before the next checkpoint if it is as large; 0: at any size.");
  static final ConfigOption<Duration> ROLLING_AGE =
      key("sink.rolling-policy.rollover-interval")
          .durationType()
          .defaultValue(Duration.ZERO)
          .withDescription(
              "A file is closed before the next checkpoint if it is as old; 0 s: at any age.");
  static final ConfigOption<Boolean> COMPACTION =
      key("sink.auto-compaction")
          .booleanType()
          .defaultValue(false)
          .withDescription(
              "Whether the files of a checkpoint are joined to fewer ones before they appear, with"
                  + " the next checkpoint.");
  static final ConfigOption<MemorySize> COMPACTION_SIZE =
      key("sink.compaction.file-size")
          .memoryType()
          .defaultValue(MemorySize.ofMebiBytes(128))
          .withDescription(
              "The size of joined files; sink.rolling-policy.file-size if that is given and this is"
                  + " not.");
  static final ConfigOption<Integer> COMPACTION_CHECKPOINTS =
      key("sink.compaction.checkpoints")
          .intType()
          .defaultValue(1)
          .withDescription(
              "The number of checkpoints whose files wait for each other, unless they are large"
                  + " enough before.");

  static final List<ConfigOption<?>> OF_COMPACTION =
      List.of(COMPACTION_SIZE, COMPACTION_CHECKPOINTS);
  static final List<ConfigOption<?>> ALL =
      List.of(ROLLING_SIZE, ROLLING_AGE, COMPACTION, COMPACTION_SIZE, COMPACTION_CHECKPOINTS);

  private EtlFileSink() {}

  /**
   * @throws UsageException if the numbers of joined files are less than 1
   */
  static void check(Configuration settings) {
    EtlOptions.requireAtLeast(1, settings.get(COMPACTION_CHECKPOINTS), COMPACTION_CHECKPOINTS);
    EtlOptions.requireAtLeast(1, settings.get(COMPACTION_SIZE).getBytes(), COMPACTION_SIZE);
  }

  /**
   * When files of the job are closed and joined.
   *
   * @param mayBeResumed whether the job may resume from one that joined files
   */
  static FileSinkOptions options(Configuration settings, boolean mayBeResumed) {
    FileRollingPolicy rolling = FileRollingPolicy.ON_CHECKPOINT;
    long bytes = settings.get(ROLLING_SIZE).getBytes();
    if (bytes > 0) {
      rolling = rolling.withMaxBytes(bytes);
    }
    Duration age = settings.get(ROLLING_AGE);
    if (age.toMillis() > 0) {
      rolling = rolling.withMaxAge(age);
    }
    return FileSinkOptions.DEFAULT
        .withRolling(rolling)
        .withCompaction(compaction(settings, mayBeResumed));
  }

  private static FileCompaction compaction(Configuration settings, boolean mayBeResumed) {
    if (!settings.get(COMPACTION)) {
      return mayBeResumed ? FileCompaction.STOPPED : FileCompaction.NONE;
    }
    long rollingBytes = settings.get(ROLLING_SIZE).getBytes();
    boolean isAsRolled = rollingBytes > 0 && !settings.contains(COMPACTION_SIZE);
    return FileCompaction.ofFileBytes(
            isAsRolled ? rollingBytes : settings.get(COMPACTION_SIZE).getBytes())
        .withCheckpoints(settings.get(COMPACTION_CHECKPOINTS));
  }
}
