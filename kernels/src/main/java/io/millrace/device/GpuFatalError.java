// SPDX-License-Identifier: Apache-2.0
package io.millrace.device;

import io.millrace.annotation.PublicEvolving;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * A CUDA error after which every later call in this process fails too (illegal address, launch
 * failure, uncorrectable memory error, lost device): the process must end. A handler that the host
 * program sets ends it, whichever thread meets the error. Without a handler the error is thrown as
 * any other; Flink treats an {@link InternalError} in a task's thread as fatal to the JVM.
 */
@PublicEvolving
public class GpuFatalError extends InternalError {
  private static final long serialVersionUID = 1L;

  private static final AtomicReference<Consumer<? super GpuFatalError>> HANDLER =
      new AtomicReference<>(error -> {});

  public GpuFatalError(String message) {
    super(message);
  }

  /**
   * Lets {@code newHandler} end this process. It replaces the handler before.
   *
   * @param newHandler called with each error before it is thrown, in the thread that meets it, and
   *     perhaps in several threads at once
   */
  public static void handleWith(Consumer<? super GpuFatalError> newHandler) {
    HANDLER.set(newHandler);
  }

  /** Calls the handler, and returns the error to throw if the handler returns. */
  static GpuFatalError handled(String message) {
    GpuFatalError error = new GpuFatalError(message);
    HANDLER.get().accept(error);
    return error;
  }
}
