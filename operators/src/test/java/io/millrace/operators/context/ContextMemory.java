// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.context;

import io.millrace.memory.MemoryResource;
import java.util.function.UnaryOperator;

/** Lets tests of other packages put something around the device memory of contexts. */
public final class ContextMemory {
  private ContextMemory() {}

  /**
   * Wraps the device memory of contexts that are opened until {@link #unwrap}.
   *
   * @throws IllegalStateException if a context is open
   */
  public static void wrap(UnaryOperator<MemoryResource> wrapper) {
    DeviceContext.wrapMemory(wrapper, UnaryOperator.identity());
  }

  /** Ends what {@link #wrap} began. */
  public static void unwrap() {
    wrap(UnaryOperator.identity());
  }
}
