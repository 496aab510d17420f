// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import io.millrace.format.FieldQuotes;
import io.millrace.format.csv.CsvReaderOptions;
import org.apache.flink.formats.csv.CsvRowDataDeserializationSchema;

/** Options of Flink's format {@code csv} and the closest ones of Millrace. */
enum CsvSettings {
  DEFAULT(""),
  EMPTY_AS_NULL("`empty-string-as-null`"),
  NULL_LITERAL("`null-literal` = `n/a`"),
  /** With semicolons and the null literal, too. */
  ESCAPES("`escape-character` = `\\`");

  private static final String NOT_AVAILABLE = "n/a";

  private final String shown;

  CsvSettings(String shown) {
    this.shown = shown;
  }

  /** Flink's options in Markdown; empty for its defaults. */
  String shown() {
    return shown;
  }

  CsvReaderOptions options() {
    CsvReaderOptions options = CsvReaderOptions.DEFAULT;
    return switch (this) {
      case DEFAULT, EMPTY_AS_NULL -> options;
      case NULL_LITERAL -> options.withNullLiteral(NOT_AVAILABLE);
      case ESCAPES ->
          options.withNullLiteral(NOT_AVAILABLE).withQuotes(new FieldQuotes(';', '"', '\\'));
    };
  }

  void applyTo(CsvRowDataDeserializationSchema.Builder flink) {
    switch (this) {
      case DEFAULT -> {}
      case EMPTY_AS_NULL -> flink.setEmptyStringAsNull(true);
      case NULL_LITERAL -> flink.setNullLiteral(NOT_AVAILABLE);
      case ESCAPES ->
          flink.setNullLiteral(NOT_AVAILABLE).setFieldDelimiter(';').setEscapeCharacter('\\');
    }
  }
}
