// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.temporal;

import java.text.ParsePosition;
import java.text.SimpleDateFormat;
import java.time.format.DateTimeFormatter;
import java.util.Date;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Java formatters by pattern. As in Flink, names of months and weekdays are in the default locale
 * of the process.
 */
final class DateTimeFormats {
  /** The timestamp pattern with seconds precision. */
  static final String SECONDS_PATTERN = "yyyy-MM-dd HH:mm:ss";

  /** Caches the formatters of the patterns in one evaluation. */
  static final class Cache {
    private final Map<String, Optional<DateTimeFormatter>> formatters = new HashMap<>();

    /** The formatter of a pattern; empty if the pattern is malformed. */
    Optional<DateTimeFormatter> get(String pattern) {
      return formatters.computeIfAbsent(pattern, DateTimeFormats::formatter);
    }
  }

  private DateTimeFormats() {}

  private static Locale locale() {
    return Locale.getDefault(Locale.Category.FORMAT);
  }

  /** The formatter of a pattern; empty if the pattern is malformed. */
  static Optional<DateTimeFormatter> formatter(String pattern) {
    try {
      return Optional.of(DateTimeFormatter.ofPattern(pattern, locale()));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /**
   * Creates a legacy formatter, to be used by one thread.
   *
   * @throws IllegalArgumentException if the pattern is malformed
   */
  static SimpleDateFormat legacy(String pattern, SessionZone zone) {
    SimpleDateFormat format = new SimpleDateFormat(pattern, locale());
    format.setTimeZone(zone.timeZone());
    return format;
  }

  /** Whether legacy formatters of this process write ASCII digits and the Gregorian calendar. */
  static boolean isLegacyPlain() {
    return legacy(SECONDS_PATTERN, SessionZone.of("UTC")).format(0L).equals("1970-01-01 00:00:00");
  }

  /** Parses the instant, in milliseconds, at the beginning of the text; empty if there is none. */
  static OptionalLong parse(SimpleDateFormat format, String text) {
    Date date = format.parse(text, new ParsePosition(0));
    return date == null ? OptionalLong.empty() : OptionalLong.of(date.toInstant().toEpochMilli());
  }
}
