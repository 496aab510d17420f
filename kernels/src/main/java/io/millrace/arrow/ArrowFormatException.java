// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow;

import io.millrace.annotation.PublicEvolving;
import java.io.IOException;

/** Bytes are not the Arrow data that they should be: cut short, corrupt or of another schema. */
@PublicEvolving
public final class ArrowFormatException extends IOException {
  private static final long serialVersionUID = 1L;

  public ArrowFormatException(String message) {
    super(message);
  }

  public ArrowFormatException(String message, Throwable cause) {
    super(message, cause);
  }
}
