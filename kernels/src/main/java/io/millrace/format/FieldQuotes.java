// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.annotation.PublicEvolving;
import java.io.Serializable;

/**
 * Which line feeds of a text of CSV are within quotes, and end no record. A quote opens a field
 * only as its first character. It is closed by a quote, unless there is another one behind that.
 *
 * @param delimiter between fields, an ASCII character
 * @param quote around fields, an ASCII character, or {@link #NO_CHARACTER}
 * @param escape in front of a character that is taken as it is, an ASCII character, or {@link
 *     #NO_CHARACTER}. Outside of quotes, a line feed ends a record even behind an escape
 */
@PublicEvolving
public record FieldQuotes(char delimiter, int quote, int escape) implements Serializable {
  /** Stands for a quote or an escape that there is not. Equal to no byte. */
  public static final int NO_CHARACTER = -2;

  /** Commas, double quotes, no escapes, as in RFC 4180. */
  public static final FieldQuotes DEFAULT = new FieldQuotes(',', '"', NO_CHARACTER);

  /**
   * @throws IllegalArgumentException if a character is not ASCII or a line end, or if two of them
   *     are equal
   */
  public FieldQuotes {
    checkCharacter("delimiter", delimiter);
    if (quote != NO_CHARACTER) {
      checkCharacter("quote", quote);
    }
    if (escape != NO_CHARACTER) {
      checkCharacter("escape", escape);
    }
    if (delimiter == quote || delimiter == escape || (quote == escape && quote != NO_CHARACTER)) {
      throw new IllegalArgumentException(
          "expected the delimiter, the quote and the escape to be different");
    }
  }

  private static void checkCharacter(String what, int character) {
    if (character < 0 || character >= 0x80 || character == '\n' || character == '\r') {
      throw new IllegalArgumentException(
          "expected an ASCII character other than a line end as the "
              + what
              + ", got the character "
              + character);
    }
  }
}
