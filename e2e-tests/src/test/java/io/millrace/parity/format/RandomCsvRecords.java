// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.format.FieldQuotes;
import io.millrace.format.csv.CsvReaderOptions;
import java.time.LocalDate;
import java.util.List;
import java.util.Random;
import org.apache.flink.formats.common.TimestampFormat;

/** Writes random records of CSV that both Millrace and Flink's format {@code csv} read. */
final class RandomCsvRecords extends RandomRecords {
  // Flink reads dates of the Gregorian calendar alone.
  private static final LocalDate FIRST_DAY = LocalDate.of(1583, 1, 1);
  private static final int DAYS =
      (int) (LocalDate.of(9999, 12, 31).toEpochDay() - FIRST_DAY.toEpochDay() + 1);

  private final CsvReaderOptions options;
  // Millrace takes escapes in strings alone.
  private boolean hasEscapes;

  /**
   * @param options with a null literal that is no value of another type than STRING
   */
  RandomCsvRecords(Random random, CsvReaderOptions options) {
    super(random, TimestampFormat.SQL, true);
    this.options = options;
  }

  @Override
  String record(List<Field> fields) {
    text = new StringBuilder();
    for (int i = 0; i < fields.size(); i++) {
      if (i > 0) {
        text.append(options.quotes().delimiter());
      }
      if (rarely()) {
        text.append(options.nullLiteral());
      } else {
        value(fields.get(i).type());
      }
    }
    return text.append(rarely() ? "" : rarely() ? "\r\n" : "\n").toString();
  }

  @Override
  protected void value(DataType type) {
    hasEscapes =
        type.equals(DataType.STRING) && options.quotes().escape() != FieldQuotes.NO_CHARACTER;
    if (type.equals(DataType.DATE)) {
      string(FIRST_DAY.plusDays(random.nextInt(DAYS)).toString());
    } else {
      super.value(type);
    }
  }

  @Override
  protected void string(String value) {
    // Flink takes a null literal in quotes for null.
    String other = value.equals(options.nullLiteral()) ? value + "x" : value;
    boolean isQuoted =
        other.chars().anyMatch(next -> "\"\n\r".indexOf(next) >= 0)
            || other.indexOf(options.quotes().delimiter()) >= 0
            || random.nextBoolean();
    text.append(isQuoted ? "\"" : "");
    other.codePoints().forEach(this::character);
    text.append(isQuoted ? "\"" : "");
  }

  private void character(int codePoint) {
    boolean isHalf = codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
    int next = isHalf ? 'x' : codePoint;
    int escape = options.quotes().escape();
    boolean isLetter = "0nrt".indexOf(next) >= 0;
    if (next == escape || (hasEscapes && !isLetter && rarely())) {
      text.append((char) escape).appendCodePoint(next);
    } else {
      text.append(next == '"' ? "\"" : "").appendCodePoint(next);
    }
  }
}
