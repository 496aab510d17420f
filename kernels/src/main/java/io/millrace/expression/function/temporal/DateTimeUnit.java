// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import io.millrace.expression.error.ExpressionException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A unit of time or a field of a date. */
enum DateTimeUnit {
  MILLENNIUM(0, "MILLENNIUM", 12_000),
  CENTURY(1, "CENTURY", 1_200),
  DECADE(2, "DECADE", 120),
  YEAR(3, "YEAR", 12),
  QUARTER(4, "QUARTER", 3),
  MONTH(5, "MONTH", 1),
  WEEK(6, "WEEK", 604_800_000),
  DAY(7, "DAY", 86_400_000),
  HOUR(8, "HOUR", 3_600_000),
  MINUTE(9, "MINUTE", 60_000),
  SECOND(10, "SECOND", 1_000),
  MILLISECOND(11, "MILLISECOND", 1),
  MICROSECOND(12, "MICROSECOND", 0),
  NANOSECOND(13, "NANOSECOND", 0),
  DAY_OF_YEAR(14, "DOY", 0),
  DAY_OF_WEEK(15, "DOW", 0),
  ISO_DAY_OF_WEEK(16, "ISODOW", 0),
  ISO_YEAR(17, "ISOYEAR", 0),
  EPOCH(18, "EPOCH", 0);

  private final int code;
  private final String symbol;
  private final int size;

  DateTimeUnit(int code, String symbol, int size) {
    this.code = code;
    this.symbol = symbol;
    this.size = size;
  }

  /** The code of the unit on the device. */
  int code() {
    return code;
  }

  /** The SQL name. */
  String symbol() {
    return symbol;
  }

  /**
   * Length of the unit: months for units of months, otherwise milliseconds; 0 for fields and units
   * below a millisecond.
   */
  int size() {
    return size;
  }

  /** Whether the length is in months: MILLENNIUM to MONTH. */
  boolean isMonths() {
    return compareTo(MONTH) <= 0;
  }

  /** Whether the unit is shorter than a day and at least a millisecond. */
  boolean isOfDay() {
    return compareTo(HOUR) >= 0 && compareTo(MILLISECOND) <= 0;
  }

  /** Whether the unit is shorter than a millisecond. */
  boolean isFraction() {
    return this == MICROSECOND || this == NANOSECOND;
  }

  /**
   * Returns the unit with a SQL name, ignoring case.
   *
   * @throws ExpressionException if it is not in {@code units}
   */
  static DateTimeUnit of(String symbol, List<DateTimeUnit> units) {
    String key = symbol.toUpperCase(Locale.ROOT);
    return Arrays.stream(values())
        .filter(unit -> unit.symbol.equals(key) && units.contains(unit))
        .findFirst()
        .orElseThrow(
            () ->
                new ExpressionException(
                    "expected one of the units "
                        + units.stream().map(DateTimeUnit::symbol).collect(Collectors.joining(", "))
                        + ", got "
                        + symbol));
  }
}
