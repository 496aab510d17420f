// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.memory.AccessScope;
import io.millrace.memory.Buffer;
import io.millrace.memory.spill.SpillStatistics;

/** A caller outside the memory package that exposes memory. */
public final class ExposureSites {
  private ExposureSites() {}

  public static void first(SpillStatistics statistics, long bytes, boolean wasSpilled) {
    statistics.exposed(bytes, wasSpilled);
  }

  public static void second(SpillStatistics statistics, long bytes, boolean wasSpilled) {
    statistics.exposed(bytes, wasSpilled);
  }

  /** Exposes {@code buffer}; the exposure is attributed to this method. */
  public static void expose(Buffer buffer, AccessScope scope) {
    buffer.expose(scope);
  }
}
