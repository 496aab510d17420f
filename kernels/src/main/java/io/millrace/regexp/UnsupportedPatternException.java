// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import io.millrace.annotation.Internal;
import java.io.Serial;

/** A regular expression is outside the subset that is made an automaton; the message says why. */
@Internal
public final class UnsupportedPatternException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  public UnsupportedPatternException(String reason) {
    super(reason, null, false, false);
  }
}
