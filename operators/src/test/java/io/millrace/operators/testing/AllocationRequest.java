// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.testing;

import io.millrace.memory.retry.GpuRetry;
import java.lang.StackWalker.StackFrame;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A request for memory, recorded from the stack of its thread.
 *
 * @param attempt the calls of {@link GpuRetry} on the stack, which differ between its attempts;
 *     empty outside {@code GpuRetry}
 * @param isOfTestCode whether test code, or an operator of a test, makes the request outside {@code
 *     GpuRetry}
 */
record AllocationRequest(AllocationSite site, List<String> attempt, boolean isOfTestCode) {
  private static final StackWalker STACK =
      StackWalker.getInstance(StackWalker.Option.RETAIN_CLASS_REFERENCE);
  private static final ClassValue<Boolean> IS_TEST_CODE =
      new ClassValue<>() {
        @Override
        protected Boolean computeValue(Class<?> type) {
          return isTestCode(type.getProtectionDomain().getCodeSource().getLocation().getPath());
        }
      };

  /** Whether {@code location}, a folder or jar of the build or of a bundle, holds test classes. */
  static boolean isTestCode(String location) {
    return location.contains("/test-classes/")
        || location.contains("-tests.jar")
        || location.endsWith("/test/");
  }

  /** The current request of the calling thread. */
  static AllocationRequest current() {
    return STACK.walk(AllocationRequest::of);
  }

  private static AllocationRequest of(Stream<StackFrame> stack) {
    List<SourceLine> lines = new ArrayList<>();
    List<String> attempt = new ArrayList<>();
    boolean passesTestCode = false;
    Iterator<StackFrame> frames = stack.dropWhile(frame -> !isOfMemoryLayer(frame)).iterator();
    while (frames.hasNext()) {
      StackFrame frame = frames.next();
      if (isOutside(frame)) {
        break;
      }
      if (frame.getDeclaringClass() == GpuRetry.class) {
        attempt.add(frame.getMethodName() + "@" + frame.getByteCodeIndex());
      } else if (frame.getClassName().startsWith("io.millrace.") && !isOfMemoryLayer(frame)) {
        lines.add(new SourceLine(frame.getClassName(), frame.getLineNumber()));
        passesTestCode |= IS_TEST_CODE.get(frame.getDeclaringClass());
      }
    }
    return new AllocationRequest(
        new AllocationSite(lines), attempt, passesTestCode && attempt.isEmpty());
  }

  private static boolean isOutside(StackFrame frame) {
    return frame.getClassName().startsWith("org.apache.flink.")
        || frame.getClassName().startsWith("org.junit.");
  }

  private static boolean isOfMemoryLayer(StackFrame frame) {
    return frame.getClassName().startsWith("io.millrace.memory.")
        || frame.getClassName().startsWith("io.millrace.device.");
  }
}
