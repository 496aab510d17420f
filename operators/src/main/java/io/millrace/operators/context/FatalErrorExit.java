// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.device.GpuFatalError;
import org.apache.flink.util.FatalExitExceptionHandler;

/**
 * Ends the process for a GPU whose context is lost, as Flink does for its own fatal errors: the job
 * goes on from its last checkpoint, in other TaskManagers or in a process that is started instead.
 * A task's thread needs this as much as others: Flink sees an error there only if it is not the
 * cause or the suppressed failure of an exception.
 */
final class FatalErrorExit {
  private FatalErrorExit() {}

  /** Makes all threads of this process end it. */
  static void install() {
    GpuFatalError.handleWith(FatalErrorExit::exit);
  }

  private static void exit(GpuFatalError error) {
    // Without a logging configuration nothing else would say why the process ends.
    System.err.println("millrace: this process cannot use its GPU any more: " + error.getMessage());
    FatalExitExceptionHandler.INSTANCE.uncaughtException(Thread.currentThread(), error);
  }
}
