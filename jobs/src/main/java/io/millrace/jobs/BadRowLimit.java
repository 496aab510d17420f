// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import java.io.Serializable;
import java.util.Locale;

/**
 * How many bad rows are too many.
 *
 * @param rows the most that may be
 * @param percent the most of all rows that may be, from 0 to 100
 */
record BadRowLimit(long rows, double percent) implements Serializable {
  static final BadRowLimit NONE = new BadRowLimit(Long.MAX_VALUE, 100);

  /**
   * Reads {@code 100} or {@code 1.5%}.
   *
   * @throws UsageException if it is neither
   */
  static BadRowLimit parse(String text) {
    String number = text.strip();
    try {
      if (number.endsWith("%")) {
        double percent = Double.parseDouble(number.substring(0, number.length() - 1));
        if (percent >= 0 && percent <= 100) {
          return new BadRowLimit(Long.MAX_VALUE, percent);
        }
      } else if (Long.parseLong(number) >= 0) {
        return new BadRowLimit(Long.parseLong(number), 100);
      }
    } catch (NumberFormatException e) {
      // said below
    }
    throw new UsageException(
        EtlOptions.MAX_BAD_ROWS.key()
            + ": expected a number of rows such as 100 or a share such as 1%, got '"
            + text
            + "'");
  }

  boolean isExceeded(long badRows, long allRows) {
    return badRows > rows || badRows > allRows * (percent / 100);
  }

  @Override
  public String toString() {
    return rows < Long.MAX_VALUE
        ? String.format(Locale.ROOT, "%,d", rows)
        : String.format(Locale.ROOT, "%s %% of all rows", percent);
  }
}
