// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.csv;

import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.FieldQuotes;
import io.millrace.format.RandomValues;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Writes random records as CSV with double quotes, with or without quotes and escapes. */
public final class RandomCsv extends RandomValues {
  private final CsvReaderOptions options;
  private final Random random;
  private final StringBuilder text;

  private RandomCsv(CsvReaderOptions options, Random random, StringBuilder text) {
    super(random);
    this.options = options;
    this.random = random;
    this.text = text;
  }

  /**
   * Appends a record without a line end; its values, in the form of {@link
   * io.millrace.testing.TableRows}.
   *
   * @param options without a header
   */
  public static List<Object> record(
      Schema schema, CsvReaderOptions options, Random random, StringBuilder text) {
    return new RandomCsv(options, random, text).object(schema.fields());
  }

  @Override
  protected List<Object> object(List<Field> fields) {
    List<Object> values = new ArrayList<>();
    for (Field field : fields) {
      if (!values.isEmpty()) {
        text.append(options.quotes().delimiter());
      }
      if (field.nullable() && random.nextInt(8) == 0) {
        text.append(options.nullLiteral());
        values.add(null);
      } else {
        values.add(value(field.type()));
      }
    }
    return values;
  }

  @Override
  protected void plain(String value) {
    quoted(value);
  }

  @Override
  protected void quoted(String value) {
    boolean isQuoted = value.indexOf(options.quotes().delimiter()) >= 0 || random.nextInt(4) == 0;
    String quotes = isQuoted ? "\"" : "";
    text.append(quotes).append(value).append(quotes);
  }

  @Override
  protected void string(String value) {
    boolean isQuoted = isQuoted(value) || random.nextBoolean();
    text.append(isQuoted ? "\"" : "");
    value.chars().forEach(next -> character((char) next));
    text.append(isQuoted ? "\"" : "");
  }

  private boolean isQuoted(String value) {
    return value.equals(options.nullLiteral())
        || value.chars().anyMatch(next -> "\"\n\r".indexOf(next) >= 0)
        || value.indexOf(options.quotes().delimiter()) >= 0;
  }

  private void character(char next) {
    boolean hasEscapes = options.quotes().escape() != FieldQuotes.NO_CHARACTER;
    int letter = "\0\n\r\t".indexOf(next);
    if (hasEscapes && letter >= 0 && random.nextBoolean()) {
      text.append((char) options.quotes().escape()).append("0nrt".charAt(letter));
    } else if (next == options.quotes().escape()
        || (hasEscapes && random.nextInt(8) == 0 && !isLetter(next))) {
      text.append((char) options.quotes().escape()).append(next);
    } else {
      text.append(next == '"' ? "\"\"" : Character.toString(next));
    }
  }

  // Whether it has another meaning behind an escape, or is half of a character.
  private static boolean isLetter(char next) {
    return "0nrt".indexOf(next) >= 0 || Character.isSurrogate(next);
  }
}
