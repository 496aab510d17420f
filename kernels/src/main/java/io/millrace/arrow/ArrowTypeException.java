// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.PublicEvolving;

/** An Arrow type is not supported, or is not the type that a call needs. */
@PublicEvolving
public final class ArrowTypeException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public ArrowTypeException(String message) {
    super(message);
  }
}
