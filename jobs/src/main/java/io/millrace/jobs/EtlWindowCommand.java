// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import java.util.Map;
import picocli.CommandLine.Option;

/** The options of the command line for {@link EtlWindow}. */
final class EtlWindowCommand {
  @Option(
      names = "--tumble",
      paramLabel = "SIZE",
      description =
          "Groups by key and window: windows of this size, such as 10s, that follow each other.")
  String tumble;

  @Option(
      names = "--hop",
      paramLabel = "SIZE",
      description = "Groups by key and window: windows of this size that overlap.")
  String hop;

  @Option(
      names = "--slide",
      paramLabel = "TIME",
      description = "For --hop: a window begins every such time.")
  String slide;

  @Option(
      names = "--cumulate",
      paramLabel = "SIZE",
      description = "Groups by key and window: windows with one start, up to this size.")
  String cumulate;

  @Option(
      names = "--step",
      paramLabel = "TIME",
      description = "For --cumulate: each window is that much longer than the one before.")
  String step;

  @Option(
      names = "--session",
      paramLabel = "GAP",
      description =
          "Groups by key and window: sessions of a key, which end when no row has come for this time.")
  String session;

  @Option(
      names = "--window-time",
      paramLabel = "COLUMN",
      description = "Selected column with the times of rows.")
  String windowTime;

  @Option(
      names = "--window-offset",
      paramLabel = "TIME",
      description = "Moves the starts of windows, but not of sessions (default 0s).")
  String windowOffset;

  @Option(
      names = "--early-firing",
      paramLabel = "TIME",
      description =
          "Time between results of windows that have not ended (default 0s: none). All changes are"
              + " written, with the operation in the column op.")
  String earlyFiring;

  @Option(
      names = "--allowed-lateness",
      paramLabel = "TIME",
      description =
          "How long rows change windows that have ended (default 0s: not at all). All changes are"
              + " written, with the operation in the column op.")
  String allowedLateness;

  @Option(
      names = "--late-rows",
      paramLabel = "PATH",
      description = "Folder for rows that are too late for their windows (default: only counted).")
  String lateRows;

  /** Adds the settings that are given; those that are not have null. */
  void addTo(Map<String, String> given) {
    given.put(EtlWindow.TUMBLE.key(), tumble);
    given.put(EtlWindow.HOP_SIZE.key(), hop);
    given.put(EtlWindow.HOP_SLIDE.key(), slide);
    given.put(EtlWindow.CUMULATE_MAX.key(), cumulate);
    given.put(EtlWindow.CUMULATE_STEP.key(), step);
    given.put(EtlWindow.SESSION.key(), session);
    given.put(EtlWindow.TIME.key(), windowTime);
    given.put(EtlWindow.OFFSET.key(), windowOffset);
    given.put(EtlWindow.EARLY_FIRING.key(), earlyFiring);
    given.put(EtlWindow.ALLOWED_LATENESS.key(), allowedLateness);
    given.put(EtlWindow.LATE_ROWS.key(), lateRows);
  }
}
