// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import io.millrace.annotation.PublicEvolving;

/** What is between the date and the time of a timestamp in a text. Readers take both. */
@PublicEvolving
public enum TimestampFormat {
  /** A T, as in ISO 8601. */
  ISO_8601("ISO-8601", 'T'),
  /** A space, as in SQL. */
  SQL("SQL", ' ');

  private final String text;
  private final char separator;

  TimestampFormat(String text, char separator) {
    this.text = text;
    this.separator = separator;
  }

  /** The character between the date and the time. */
  public char separator() {
    return separator;
  }

  /** The name in options of Flink's formats. */
  @Override
  public String toString() {
    return text;
  }
}
