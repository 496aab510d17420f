// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import java.util.Locale;
import org.apache.flink.annotation.PublicEvolving;

/** A line violates its format or the declared schema. The message says why. */
@PublicEvolving
public final class MalformedLineException extends Exception {
  private static final long serialVersionUID = 1L;
  private static final int SHOWN_CHARACTERS = 60;

  public MalformedLineException(String message) {
    super(message);
  }

  public MalformedLineException(String message, Throwable cause) {
    super(message, cause);
  }

  /** The message {@code column 'a': expected BIGINT, got 'x'}. */
  static MalformedLineException noValue(ValueField field, String text) {
    return new MalformedLineException(
        "column '"
            + field.path()
            + "': expected "
            + field.type()
            + ", got '"
            + shorten(text)
            + "'");
  }

  /** The message {@code column 'a': null in a NOT NULL column}. */
  static MalformedLineException unexpectedNull(ValueField field, String what) {
    return new MalformedLineException(
        String.format(Locale.ROOT, "column '%s' is %s but NOT NULL", field.path(), what));
  }

  private static String shorten(String text) {
    return text.length() <= SHOWN_CHARACTERS ? text : text.substring(0, SHOWN_CHARACTERS) + "...";
  }
}
