// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import io.millrace.annotation.Internal;
import java.io.Serial;

/**
 * A regular expression is outside the subset that automata support; the message gives the reason.
 */
@Internal
public final class UnsupportedPatternException extends Exception {
  @Serial private static final long serialVersionUID = 1L;

  public UnsupportedPatternException(String reason) {
    super(reason, null, false, false);
  }
}
