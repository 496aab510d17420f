// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import io.millrace.format.FieldQuotes;
import io.millrace.format.csv.CsvReaderOptions;
import java.util.function.Consumer;
import org.apache.flink.formats.csv.CsvRowDataDeserializationSchema;

/** Options of Flink's format {@code csv} and the closest ones of Millrace. */
enum CsvSettings {
  DEFAULT("", CsvReaderOptions.DEFAULT, flink -> {}),
  EMPTY_AS_NULL(
      "`empty-string-as-null`",
      CsvReaderOptions.DEFAULT,
      flink -> flink.setEmptyStringAsNull(true)),
  NULL_LITERAL(
      "`null-literal` = `n/a`",
      CsvReaderOptions.DEFAULT.withNullLiteral("n/a"),
      flink -> flink.setNullLiteral("n/a")),
  ESCAPES(
      "`escape-character` = `\\`",
      CsvReaderOptions.DEFAULT.withNullLiteral("n/a").withQuotes(new FieldQuotes(';', '"', '\\')),
      flink -> flink.setNullLiteral("n/a").setFieldDelimiter(';').setEscapeCharacter('\\'));

  private final String shown;
  private final CsvReaderOptions options;
  private final Consumer<CsvRowDataDeserializationSchema.Builder> flink;

  CsvSettings(
      String shown,
      CsvReaderOptions options,
      Consumer<CsvRowDataDeserializationSchema.Builder> flink) {
    this.shown = shown;
    this.options = options;
    this.flink = flink;
  }

  /** Flink's options in Markdown; empty for its defaults. */
  String shown() {
    return shown;
  }

  CsvReaderOptions options() {
    return options;
  }

  void applyTo(CsvRowDataDeserializationSchema.Builder builder) {
    flink.accept(builder);
  }
}
