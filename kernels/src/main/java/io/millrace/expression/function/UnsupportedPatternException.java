package io.millrace.expression.function;

import java.io.Serial;

/** A regular expression is outside the subset that is made an automaton; the message says why. */
final class UnsupportedPatternException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  UnsupportedPatternException(String reason) {
    super(reason, null, false, false);
  }
}
