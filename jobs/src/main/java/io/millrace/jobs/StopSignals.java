// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * SIGINT and SIGTERM of this process: the first one asks the job to stop, the second one ends the
 * process at once.
 */
final class StopSignals {
  // The exit codes of a process that these end.
  private static final Map<String, Integer> EXIT_CODES = Map.of("INT", 130, "TERM", 143);

  private StopSignals() {}

  /** Takes the signals over, and returns the exit code of the first one when it comes. */
  static CompletableFuture<Integer> take() {
    CompletableFuture<Integer> stop = new CompletableFuture<>();
    try {
      // By reflection: the compiler warns of these classes, and no others can do it.
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      for (Map.Entry<String, Integer> exitCode : EXIT_CODES.entrySet()) {
        Object receiver =
            Proxy.newProxyInstance(
                StopSignals.class.getClassLoader(),
                new Class<?>[] {handler},
                (proxy, method, arguments) -> {
                  if (!stop.complete(exitCode.getValue())) {
                    Runtime.getRuntime().halt(exitCode.getValue());
                  }
                  return null;
                });
        signal
            .getMethod("handle", signal, handler)
            .invoke(
                null, signal.getConstructor(String.class).newInstance(exitCode.getKey()), receiver);
      }
    } catch (ReflectiveOperationException e) {
      // As with -Xrs: a signal ends the process, as if this were not here.
    }
    return stop;
  }
}
