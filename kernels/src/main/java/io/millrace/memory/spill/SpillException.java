// SPDX-License-Identifier: Apache-2.0
package io.millrace.memory.spill;

import io.millrace.annotation.PublicEvolving;

/**
 * The disk tier could not take or give back memory; the message states the place, the reason and
 * the option to set. The bytes to be written are still in the caller's memory.
 */
@PublicEvolving
public class SpillException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public SpillException(String message) {
    super(message);
  }

  public SpillException(String message, Throwable cause) {
    super(message, cause);
  }
}
