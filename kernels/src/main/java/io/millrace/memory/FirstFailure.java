package io.millrace.memory;

/**
 * Runs steps that must all be tried, and keeps the first failure; later ones are added to it as
 * suppressed. For one thread.
 */
public final class FirstFailure {
  private Throwable failure;

  /** Runs {@code step} and keeps what it throws. */
  public void run(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      add(e);
    }
  }

  /** Keeps an unchecked exception or an error. */
  public void add(Throwable e) {
    if (failure == null) {
      failure = e;
    } else if (failure != e) {
      failure.addSuppressed(e);
    }
  }

  /** Whether a step failed. */
  public boolean hasFailed() {
    return failure != null;
  }

  /** Throws the first failure, if there was one. */
  public void rethrow() {
    if (failure instanceof Error error) {
      throw error;
    }
    if (failure instanceof RuntimeException exception) {
      throw exception;
    }
  }
}
