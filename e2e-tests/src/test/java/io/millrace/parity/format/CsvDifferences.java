// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import static io.millrace.column.DataType.BOOL;
import static io.millrace.column.DataType.DATE;
import static io.millrace.column.DataType.FLOAT64;
import static io.millrace.column.DataType.INT32;
import static io.millrace.column.DataType.STRING;
import static io.millrace.parity.format.CsvDifference.ofField;
import static io.millrace.parity.format.CsvDifference.ofPair;
import static io.millrace.parity.format.CsvSettings.EMPTY_AS_NULL;
import static io.millrace.parity.format.CsvSettings.ESCAPES;
import static io.millrace.parity.format.CsvSettings.NULL_LITERAL;

import io.millrace.column.DataType;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/** Records that Millrace and Flink's format {@code csv} read differently. */
final class CsvDifferences {
  private static final String MALFORMED = "malformed";
  private static final DataType PRICE = DataType.decimal(5, 2);

  private CsvDifferences() {}

  static Stream<CsvDifference> all() {
    return Stream.of(numbers(), times(), nulls(), texts(), records()).flatMap(List::stream);
  }

  private static List<CsvDifference> numbers() {
    return List.of(
        ofField(BOOL, "yes", MALFORMED, "false"),
        ofField(BOOL, " true ", MALFORMED, "true"),
        ofField(INT32, " 1 ", MALFORMED, "1"),
        ofField(INT32, "\u0661", MALFORMED, "1"),
        ofField(FLOAT64, " 1.5 ", MALFORMED, "1.5"),
        ofField(FLOAT64, "1.5f", MALFORMED, "1.5"),
        ofField(FLOAT64, "0x1p3", MALFORMED, "8.0"),
        ofField(FLOAT64, "1e400", MALFORMED, "Infinity"),
        ofField(FLOAT64, "+Infinity", MALFORMED, "Infinity"),
        ofField(FLOAT64, "-NaN", MALFORMED, "NaN"),
        ofField(PRICE, "1000", MALFORMED, "NULL"),
        ofField(PRICE, "999.995", MALFORMED, "NULL"),
        ofField(PRICE, "1e-9999999999", "0.00", MALFORMED),
        ofField(PRICE, "\u0661", MALFORMED, "1.00"));
  }

  private static List<CsvDifference> times() {
    DataType seconds = DataType.timestamp(0);
    DataType millis = DataType.timestamp(3);
    DataType instant = DataType.timestamp(3, true);
    return List.of(
        ofField(DATE, "2026-1-2", MALFORMED, "2026-01-02"),
        ofField(DATE, "2026-02-30", MALFORMED, "2026-03-02"),
        ofField(DATE, "1582-10-10", "1582-10-10", "1582-10-20"),
        ofField(DATE, "0000-01-01", "0000-01-01", "0001-01-01"),
        ofField(seconds, "2026-01-02 10:20:30.9", "2026-01-02T10:20:30", "2026-01-02T10:20:30.900"),
        ofField(millis, " 2026-01-02 10:20:30", MALFORMED, "2026-01-02T10:20:30"),
        ofField(millis, "2026-01-02T10:20:30", "2026-01-02T10:20:30", MALFORMED),
        ofField(millis, "2026-01-02 10:20", "2026-01-02T10:20", MALFORMED),
        ofField(millis, "2026-02-30 10:20:30", MALFORMED, "2026-02-28T10:20:30"),
        ofField(millis, "2026-01-02 24:00:00", MALFORMED, "2026-01-03T00:00"),
        ofField(instant, "2026-01-02T10:20:30Z", "2026-01-02T10:20:30Z", MALFORMED),
        ofField(instant, "2026-01-02 10:20:30z", "2026-01-02T10:20:30Z", MALFORMED),
        ofField(instant, "2026-01-02 10:20:30+01:30", "2026-01-02T08:50:30Z", MALFORMED));
  }

  private static List<CsvDifference> nulls() {
    return List.of(
        ofPair("1,", "1, NULL", "1, "),
        ofPair(",a", "NULL, a", MALFORMED),
        ofPair(",a", MALFORMED, "NULL, a").with(EMPTY_AS_NULL).notNull(),
        ofPair("1,\"\"", "1, ", "1, NULL").with(EMPTY_AS_NULL),
        ofPair("1,\"n/a\"", "1, n/a", "1, NULL").with(NULL_LITERAL),
        ofField(STRING, "", "NULL", MALFORMED).shownAs("a record of no bytes"),
        ofPair("", "no row", MALFORMED).shownAs("a record of no bytes"),
        ofPair("\n", "no row", MALFORMED));
  }

  private static List<CsvDifference> texts() {
    return List.of(
        ofField(STRING, "a\"b", MALFORMED, "a\"b"),
        ofField(STRING, "\"a\" ", MALFORMED, "a"),
        ofPair("1, \"a\"", MALFORMED, "1,  \"a\""),
        ofField(INT32, "\\1", MALFORMED, "1").with(ESCAPES),
        ofField(STRING, "\ufeffa", "\ufeffa", "a").shownAs("a byte order mark in front of `a`"),
        ofField(STRING, "\u00c0\u00af", MALFORMED, "/")
            .in(StandardCharsets.ISO_8859_1)
            .shownAs("an overlong form of a slash"));
  }

  private static List<CsvDifference> records() {
    return List.of(
        ofPair("1,a,", MALFORMED, "1, a"),
        ofPair("1,a\nb", "1, a\\nb", "1, a"),
        ofPair("1,a\rb", "1, a\\rb", "1, a"),
        ofPair("1,a\n2,b", MALFORMED, "1, a"));
  }
}
