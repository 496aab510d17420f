package io.millrace.jobs;

/** What the user asked for cannot be done; the message is one line that says what to change. */
public final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UsageException(String message) {
    super(message);
  }
}
