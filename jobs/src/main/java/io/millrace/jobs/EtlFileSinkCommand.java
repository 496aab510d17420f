// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import java.util.Map;
import picocli.CommandLine.Option;

/** The options of the command line for {@link EtlFileSink}. */
final class EtlFileSinkCommand {
  @Option(
      names = "--rolling-file-size",
      paramLabel = "SIZE",
      description =
          "Closes a file before the next checkpoint if it is as large, such as 256mb (default 0: at"
              + " any size).")
  String rollingFileSize;

  @Option(
      names = "--rollover-interval",
      paramLabel = "TIME",
      description =
          "Closes a file before the next checkpoint if it is as old (default 0s: at any age).")
  String rolloverInterval;

  @Option(
      names = "--auto-compaction",
      arity = "0..1",
      fallbackValue = "true",
      paramLabel = "BOOLEAN",
      description =
          "Whether the files of a checkpoint are joined to fewer ones before they appear, with the"
              + " next checkpoint (default false).")
  String autoCompaction;

  @Option(
      names = "--compaction-file-size",
      paramLabel = "SIZE",
      description =
          "For --auto-compaction: the size of joined files (default --rolling-file-size, or 128mb).")
  String compactionFileSize;

  @Option(
      names = "--compaction-checkpoints",
      paramLabel = "N",
      description =
          "For --auto-compaction: checkpoints whose files wait for each other (default 1).")
  String compactionCheckpoints;

  /** Adds the settings that are given; those that are not have null. */
  void addTo(Map<String, String> given) {
    given.put(EtlFileSink.ROLLING_SIZE.key(), rollingFileSize);
    given.put(EtlFileSink.ROLLING_AGE.key(), rolloverInterval);
    given.put(EtlFileSink.COMPACTION.key(), autoCompaction);
    given.put(EtlFileSink.COMPACTION_SIZE.key(), compactionFileSize);
    given.put(EtlFileSink.COMPACTION_CHECKPOINTS.key(), compactionCheckpoints);
  }
}
