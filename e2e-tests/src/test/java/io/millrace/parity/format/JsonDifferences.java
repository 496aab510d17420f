// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import static io.millrace.column.DataType.BINARY;
import static io.millrace.column.DataType.BOOL;
import static io.millrace.column.DataType.DATE;
import static io.millrace.column.DataType.FLOAT32;
import static io.millrace.column.DataType.FLOAT64;
import static io.millrace.column.DataType.INT32;
import static io.millrace.column.DataType.INT64;
import static io.millrace.column.DataType.STRING;
import static io.millrace.column.DataType.TIME;
import static io.millrace.parity.format.JsonDifference.ofEncoded;
import static io.millrace.parity.format.JsonDifference.ofRecord;
import static io.millrace.parity.format.JsonDifference.ofValue;
import static org.apache.flink.formats.common.TimestampFormat.ISO_8601;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.formats.common.TimestampFormat;

/** Records that Millrace and Flink's format {@code json} read differently. */
final class JsonDifferences {
  private static final String MALFORMED = "malformed";
  private static final DataType PRICE = DataType.decimal(5, 2);

  private JsonDifferences() {}

  static Stream<JsonDifference> all() {
    return Stream.of(conversions(), numbers(), times(), texts(), bytes(), records())
        .flatMap(List::stream);
  }

  private static List<JsonDifference> conversions() {
    return List.of(
        ofValue(BOOL, "\"true\"", MALFORMED, "true"),
        ofValue(BOOL, "\"yes\"", MALFORMED, "false"),
        ofValue(BOOL, "1", MALFORMED, "false"),
        ofValue(INT32, "\"1\"", MALFORMED, "1"),
        ofValue(INT32, "\" 1 \"", MALFORMED, "1"),
        ofValue(INT32, "1.0", MALFORMED, "1"),
        ofValue(INT32, "1.9", MALFORMED, "1"),
        ofValue(INT32, "1e3", MALFORMED, "1000"),
        ofValue(INT64, "-0.9", MALFORMED, "0"),
        ofValue(FLOAT64, "\"1.5\"", MALFORMED, "1.5"),
        ofValue(FLOAT64, "\"0x1p3\"", MALFORMED, "8.0"),
        ofValue(FLOAT64, "\" NaN \"", MALFORMED, "NaN"),
        ofValue(FLOAT64, "\"+Infinity\"", MALFORMED, "Infinity"),
        ofValue(PRICE, "\" 1.5 \"", MALFORMED, "1.50", MALFORMED),
        ofValue(PRICE, "\"\u0661\"", MALFORMED, "1.00"),
        ofValue(STRING, "1.50", MALFORMED, "1.50", "1.5"),
        ofValue(STRING, "true", MALFORMED, "true"),
        ofValue(STRING, "{\"a\": [1]}", MALFORMED, "{\"a\":[1]}"));
  }

  private static List<JsonDifference> numbers() {
    return List.of(
        ofValue(FLOAT64, "1e400", MALFORMED, "Infinity"),
        ofValue(FLOAT32, "-1e40", MALFORMED, "-Infinity"),
        ofValue(FLOAT64, "-0", "-0.0", "-0.0", "0.0"),
        ofValue(FLOAT32, "1.00000017881393432617187499", "1.0000001", "1.0000001", "1.0000002"),
        ofValue(PRICE, "1000", MALFORMED, "NULL"),
        ofValue(PRICE, "999.995", MALFORMED, "NULL"),
        ofValue(PRICE, "1e-9999999999", "0.00", MALFORMED),
        ofValue(FLOAT64, "0." + "1".repeat(1000), "0.1111111111111111", MALFORMED)
            .shownAs("a number of more than 1000 characters"),
        ofValue(PRICE, "\"\\u0030." + "1".repeat(63) + "\"", MALFORMED, "0.11")
            .shownAs("a string of more than 64 characters, some of which are escapes"));
  }

  private static List<JsonDifference> times() {
    DataType seconds = DataType.timestamp(0);
    DataType millis = DataType.timestamp(3);
    DataType instant = DataType.timestamp(3, true);
    return List.of(
        ofValue(DATE, "\"+12345-01-01\"", MALFORMED, "+12345-01-01"),
        ofValue(DATE, "\"-0001-01-01\"", MALFORMED, "-0001-01-01"),
        ofValue(TIME, "\"10:20\"", "10:20", MALFORMED),
        ofValue(TIME, "\"24:00:00\"", MALFORMED, "00:00"),
        ofValue(millis, "\"2026-01-02 24:00:00\"", MALFORMED, "2026-01-03T00:00"),
        ofValue(millis, "\"2026-02-30 10:20:30\"", MALFORMED, "2026-02-28T10:20:30"),
        ofValue(instant, "\"2026-02-30T10:20:30Z\"", MALFORMED, "2026-02-28T10:20:30Z")
            .with(ISO_8601),
        ofValue(
            seconds, "\"2026-01-02 10:20:30.9\"", "2026-01-02T10:20:30", "2026-01-02T10:20:30.900"),
        ofValue(millis, "\"2026-01-02T10:20:30\"", "2026-01-02T10:20:30", MALFORMED),
        ofValue(millis, "\"2026-01-02 10:20\"", "2026-01-02T10:20", MALFORMED),
        ofValue(millis, "\"2026-01-02 10:20:30\"", "2026-01-02T10:20:30", MALFORMED).with(ISO_8601),
        ofValue(instant, "\"2026-01-02t10:20:30Z\"", "2026-01-02T10:20:30Z", MALFORMED)
            .with(ISO_8601),
        ofValue(instant, "\"2026-01-02T10:20:30z\"", "2026-01-02T10:20:30Z", MALFORMED)
            .with(ISO_8601),
        ofValue(instant, "\"2026-01-02T10:20:30+01:30\"", "2026-01-02T08:50:30Z", MALFORMED)
            .with(ISO_8601));
  }

  private static List<JsonDifference> texts() {
    return List.of(
        ofValue(STRING, "\"a\tb\"", MALFORMED, "a\\tb").shownAs("a string with a tab as it is"),
        ofText("a string with half of a surrogate pair in UTF-8", "\u00ed\u00a0\u0080", "?"),
        ofText("a string with an overlong form of a slash", "\u00c0\u00af", "/"),
        ofText("a string with a code point above U+10FFFF", "\u00f4\u0090\u0080\u0080", "??"),
        ofEncoded(
            "unknown member whose string is an overlong form of a slash",
            "{\"w\":\"\u00c0\u00af\",\"v\":1}",
            StandardCharsets.ISO_8859_1,
            MALFORMED,
            "1",
            "1"),
        ofEncoded(
            "a byte order mark in front of `{\"v\": 1}`",
            "\ufeff{\"v\": 1}",
            StandardCharsets.UTF_8,
            MALFORMED,
            "1",
            "1"),
        ofEncoded(
            "`{\"v\": 1}` in UTF-16",
            "{\"v\": 1}",
            StandardCharsets.UTF_16BE,
            MALFORMED,
            "1",
            "1"));
  }

  private static JsonDifference ofText(String shown, String bytes, String flink) {
    return new JsonDifference(
        Field.of("v", STRING),
        shown,
        "{\"v\":\"" + bytes + "\"}",
        StandardCharsets.ISO_8859_1,
        TimestampFormat.SQL,
        MALFORMED,
        flink,
        flink);
  }

  private static List<JsonDifference> bytes() {
    return List.of(
        ofValue(BINARY, "\" AAE=\"", MALFORMED, "x'0001'"),
        ofValue(BINARY, "\"AAE=\\n\"", MALFORMED, "x'0001'"),
        ofValue(BINARY, "\"AA==AAE=\"", MALFORMED, "x'000001'"),
        ofValue(BINARY, "5", MALFORMED, MALFORMED, "NULL"),
        ofValue(DataType.list(BINARY), "[true]", MALFORMED, MALFORMED, "[null]"));
  }

  private static List<JsonDifference> records() {
    String deep = "{\"w\":" + "[".repeat(1000) + "]".repeat(1000) + ",\"v\":1}";
    return List.of(
        ofRecord("{\"v\": 1, \"v\": 2}", MALFORMED, "1", "2"),
        ofRecord("{\"v\": 1} {\"v\": 2}", MALFORMED, "1", "1"),
        ofRecord("{\"v\": 1} x", MALFORMED, "1", "1"),
        ofRecord("[{\"v\": 1}, {\"v\": 2}]", MALFORMED, "1, 2", "1, 2"),
        ofRecord("[]", MALFORMED, "no row", "no row"),
        ofRecord("null", MALFORMED, MALFORMED, "no row"),
        ofRecord(" ", "no row", MALFORMED, "no row").shownAs("a record of white space alone"),
        ofRecord(deep, "1", MALFORMED, MALFORMED)
            .shownAs("unknown member of 1000 arrays in each other"),
        ofRecord("{\"v\": null}", MALFORMED, "NULL", "NULL").notNull(),
        ofRecord("{}", MALFORMED, "NULL", "NULL").notNull());
  }
}
