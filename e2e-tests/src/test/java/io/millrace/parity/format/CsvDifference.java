// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;

/**
 * A record that Millrace and Flink's format {@code csv} read differently.
 *
 * @param shown the record, as documentation shows it
 * @param text the record
 * @param charset the encoding of the record
 * @param millrace what Millrace makes of the record, as {@link RecordResult#text} writes it
 * @param flink what Flink makes of it
 */
record CsvDifference(
    Schema schema,
    String shown,
    String text,
    Charset charset,
    CsvSettings settings,
    String millrace,
    String flink) {

  private static final Schema PAIR =
      Schema.of(Field.of("a", DataType.INT32), Field.of("b", DataType.STRING));

  /** A record of one field. */
  static CsvDifference ofField(DataType type, String text, String millrace, String flink) {
    return of(Schema.of(Field.of("v", type)), text, millrace, flink);
  }

  /** A record of an INT and a STRING. */
  static CsvDifference ofPair(String text, String millrace, String flink) {
    return of(PAIR, text, millrace, flink);
  }

  private static CsvDifference of(Schema schema, String text, String millrace, String flink) {
    String shown = "`" + text.replace("\n", "\\n").replace("\r", "\\r") + "`";
    return new CsvDifference(
        schema, shown, text, StandardCharsets.UTF_8, CsvSettings.DEFAULT, millrace, flink);
  }

  CsvDifference with(CsvSettings other) {
    return new CsvDifference(schema, shown, text, charset, other, millrace, flink);
  }

  CsvDifference in(Charset other) {
    return new CsvDifference(schema, shown, text, other, settings, millrace, flink);
  }

  CsvDifference shownAs(String description) {
    return new CsvDifference(schema, description, text, charset, settings, millrace, flink);
  }

  CsvDifference notNull() {
    Schema required =
        new Schema(
            schema.fields().stream()
                .map(field -> new Field(field.name(), field.type(), false))
                .toList());
    return new CsvDifference(required, shown, text, charset, settings, millrace, flink);
  }

  byte[] record() {
    return text.getBytes(charset);
  }

  /** The row of the table in docs/csv.md. */
  String markdown() {
    String types =
        schema.fields().stream()
            .map(field -> field.type() + (field.nullable() ? "" : " NOT NULL"))
            .collect(Collectors.joining(", "));
    String option = settings.shown().isEmpty() ? "" : ", " + settings.shown();
    return "| %s | `%s`%s | %s | %s |"
        .formatted(shown, types, option, RecordResult.cell(millrace), RecordResult.cell(flink));
  }

  @Override
  public String toString() {
    return markdown();
  }
}
