// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory;

import io.millrace.annotation.PublicEvolving;

/**
 * Runs steps that must all be tried, and keeps the first failure, but the first error before any
 * exception: who only handles exceptions must not take an error for one. The others are added to it
 * as suppressed. For one thread.
 */
@PublicEvolving
public final class FirstFailure {
  private Throwable failure;

  /** Runs {@code step} and keeps the exception that it throws. */
  public void run(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      add(e);
    }
  }

  /**
   * Keeps an unchecked exception or an error.
   *
   * @throws IllegalArgumentException if {@code e} is a checked exception
   */
  public void add(Throwable e) {
    if (!(e instanceof RuntimeException || e instanceof Error)) {
      throw new IllegalArgumentException("a checked exception cannot be kept", e);
    }
    if (failure == null) {
      failure = e;
    } else if (e instanceof Error && !(failure instanceof Error)) {
      e.addSuppressed(failure);
      failure = e;
    } else if (failure != e) {
      failure.addSuppressed(e);
    }
  }

  /** Whether a step failed. */
  public boolean hasFailed() {
    return failure != null;
  }

  /** Throws the kept exception, if there is one. */
  public void rethrow() {
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
  }
}
