// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import java.io.IOException;
import java.util.Locale;
import org.apache.flink.annotation.PublicEvolving;

/** A file cannot be read, or is not in its declared format. The message names the file. */
@PublicEvolving
public final class InputException extends IOException {
  private static final long serialVersionUID = 1L;

  public InputException(String message, Throwable cause) {
    super(message, cause);
  }

  /** A failure to read {@code path} at or behind {@code offset}. */
  public static InputException unreadable(String path, long offset, IOException cause) {
    String reason =
        cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
    return new InputException(
        String.format(Locale.ROOT, "cannot read %s behind byte %d: %s", path, offset, reason),
        cause);
  }
}
