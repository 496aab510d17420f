// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.csv;

import io.millrace.annotation.PublicEvolving;
import io.millrace.format.FieldQuotes;
import java.io.Serializable;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * How records of CSV are read.
 *
 * @param quotes the delimiter, the quote, which is doubled within quotes, and the escape. An escape
 *     in front of {@code 0}, {@code n}, {@code r} or {@code t} stands for the character 0, 10, 13
 *     or 9, and in front of another character for that
 * @param nullLiteral the text of a field without quotes and escapes that is null
 * @param header the names of the fields of a record; those without a column are skipped. Empty: the
 *     fields are the columns in order
 * @param maxMissingFields the most fields that a record may lack at its end; they are null
 * @param maxExtraFields the most fields that a record may have behind the others; they are skipped
 * @param timePrecisions digits behind the second that are kept, by columns of TIME; 3 without an
 *     entry
 */
@PublicEvolving
public record CsvReaderOptions(
    FieldQuotes quotes,
    String nullLiteral,
    List<String> header,
    int maxMissingFields,
    int maxExtraFields,
    Map<String, Integer> timePrecisions)
    implements Serializable {
  /**
   * As in RFC 4180: commas, double quotes, no escapes. A field that is empty and without quotes is
   * null. Each record has a field for each column.
   */
  public static final CsvReaderOptions DEFAULT =
      new CsvReaderOptions(FieldQuotes.DEFAULT, "", List.of(), 0, 0, Map.of());

  /**
   * @throws IllegalArgumentException if the null literal has a delimiter, a quote, an escape or a
   *     line end in it, if a name is twice in the header, if a number is negative, or if a TIME has
   *     no precision from 0 to 3
   */
  public CsvReaderOptions {
    Objects.requireNonNull(nullLiteral, "nullLiteral is null");
    header = List.copyOf(header);
    timePrecisions = Map.copyOf(timePrecisions);
    for (int special :
        new int[] {quotes.delimiter(), quotes.quote(), quotes.escape(), '\n', '\r'}) {
      if (nullLiteral.indexOf(special) >= 0) {
        throw new IllegalArgumentException(
            "expected a null literal without '" + (char) special + "', got '" + nullLiteral + "'");
      }
    }
    if (header.stream().distinct().count() < header.size()) {
      throw new IllegalArgumentException("the header has a name twice: " + header);
    }
    if (maxMissingFields < 0 || maxExtraFields < 0) {
      throw new IllegalArgumentException(
          "expected no negative number of fields, got "
              + Math.min(maxMissingFields, maxExtraFields));
    }
    timePrecisions.forEach(
        (column, digits) -> {
          if (digits < 0 || digits > 3) {
            throw new IllegalArgumentException(
                "expected a precision from 0 to 3 of the TIME '" + column + "', got " + digits);
          }
        });
  }

  /** The same with another delimiter, quote and escape. */
  public CsvReaderOptions withQuotes(FieldQuotes other) {
    return new CsvReaderOptions(
        other, nullLiteral, header, maxMissingFields, maxExtraFields, timePrecisions);
  }

  /** The same with another text for null. */
  public CsvReaderOptions withNullLiteral(String other) {
    return new CsvReaderOptions(
        quotes, other, header, maxMissingFields, maxExtraFields, timePrecisions);
  }

  /** The same with other names of the fields of a record. */
  public CsvReaderOptions withHeader(List<String> other) {
    return new CsvReaderOptions(
        quotes, nullLiteral, other, maxMissingFields, maxExtraFields, timePrecisions);
  }

  /** The same with other numbers of fields that a record may lack or have too many. */
  public CsvReaderOptions withFieldCount(int maxMissing, int maxExtra) {
    return new CsvReaderOptions(quotes, nullLiteral, header, maxMissing, maxExtra, timePrecisions);
  }

  /** The same with other precisions of columns of TIME. */
  public CsvReaderOptions withTimePrecisions(Map<String, Integer> other) {
    return new CsvReaderOptions(
        quotes, nullLiteral, header, maxMissingFields, maxExtraFields, other);
  }
}
