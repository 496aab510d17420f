// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.annotation.PublicEvolving;

/**
 * A number of bytes that may be used, owned by someone who knows how many there are. Thread-safe.
 */
@PublicEvolving
public interface MemoryBudget {

  /** Takes {@code bytes} bytes if there are as many left. */
  boolean tryReserve(long bytes);

  /** Gives back what {@link #tryReserve} took. */
  void release(long bytes);

  /** A budget of no bytes. */
  static MemoryBudget none() {
    return new MemoryBudget() {
      @Override
      public boolean tryReserve(long bytes) {
        return false;
      }

      @Override
      public void release(long bytes) {}
    };
  }

  /** A budget that never ends. */
  static MemoryBudget unlimited() {
    return new MemoryBudget() {
      @Override
      public boolean tryReserve(long bytes) {
        return true;
      }

      @Override
      public void release(long bytes) {}
    };
  }
}
