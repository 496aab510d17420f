// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import io.millrace.expression.error.EvaluationException;
import java.nio.file.FileSystemException;

/** The reason for the failure of a job, in one line. */
final class FailureMessage {
  private static final String OWN_CLASSES = "io.millrace.";

  private FailureMessage() {}

  /**
   * The message of the outermost exception of Millrace, which is complete on its own; else the last
   * cause that says something. What Flink wraps around a failure says only that there was one.
   */
  static String of(Throwable failure) {
    Throwable told = failure;
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      if (cause.getClass().getName().startsWith(OWN_CLASSES)) {
        return oneLine(own(cause));
      }
      if (cause.getMessage() != null) {
        told = cause;
      }
    }
    // The messages of these exceptions are only the name of the file.
    boolean needsName = told.getMessage() == null || told instanceof FileSystemException;
    return oneLine(
        needsName ? told.getClass().getSimpleName() + ": " + told.getMessage() : told.getMessage());
  }

  private static String own(Throwable failure) {
    String message =
        failure.getMessage() == null ? failure.getClass().getSimpleName() : failure.getMessage();
    if (!(failure instanceof EvaluationException)) {
      return message;
    }
    String cast = message.contains("CAST(") ? "TRY_CAST gives NULL instead; " : "";
    return message + " (" + cast + "on-error: skip puts such rows of files into the bad rows)";
  }

  private static String oneLine(String message) {
    return message.strip().replaceAll("\\s*\\R\\s*", " ");
  }
}
