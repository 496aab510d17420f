package io.millrace.regexp;

import java.io.Serial;

/** A regular expression is outside the subset that is made an automaton; the message says why. */
public final class UnsupportedPatternException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  public UnsupportedPatternException(String reason) {
    super(reason, null, false, false);
  }
}
