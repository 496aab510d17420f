// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.apache.flink.formats.common.TimestampFormat;

/**
 * A record that Millrace and Flink's format {@code json} read differently.
 *
 * @param column the only column, {@code v}
 * @param shown the record, or the value of its member {@code v}, as documentation shows it
 * @param text the record
 * @param charset the encoding of the record
 * @param timestamps Flink's option {@code timestamp-format.standard}
 * @param millrace what Millrace makes of the record, as {@link RecordResult#text} writes it
 * @param flink what Flink makes of it by default
 * @param tree what Flink makes of it without {@code decode.json-parser.enabled}
 */
record JsonDifference(
    Field column,
    String shown,
    String text,
    Charset charset,
    TimestampFormat timestamps,
    String millrace,
    String flink,
    String tree) {
  /** A record whose member {@code v} has the value. */
  static JsonDifference ofValue(DataType type, String value, String millrace, String flink) {
    return ofValue(type, value, millrace, flink, flink);
  }

  static JsonDifference ofValue(
      DataType type, String value, String millrace, String flink, String tree) {
    String record = "{\"v\":" + value + "}";
    Field column = Field.of("v", type);
    return new JsonDifference(
        column,
        code(value),
        record,
        StandardCharsets.UTF_8,
        TimestampFormat.SQL,
        millrace,
        flink,
        tree);
  }

  /** A record in UTF-8; the column is an INT. */
  static JsonDifference ofRecord(String record, String millrace, String flink, String tree) {
    return ofEncoded(code(record), record, StandardCharsets.UTF_8, millrace, flink, tree);
  }

  /** A record in any encoding; the column is an INT. */
  static JsonDifference ofEncoded(
      String shown, String text, Charset charset, String millrace, String flink, String tree) {
    Field column = Field.of("v", DataType.INT32);
    return new JsonDifference(
        column, shown, text, charset, TimestampFormat.SQL, millrace, flink, tree);
  }

  JsonDifference with(TimestampFormat format) {
    return new JsonDifference(column, shown, text, charset, format, millrace, flink, tree);
  }

  JsonDifference notNull() {
    Field required = new Field(column.name(), column.type(), false);
    return new JsonDifference(required, shown, text, charset, timestamps, millrace, flink, tree);
  }

  JsonDifference shownAs(String description) {
    return new JsonDifference(
        column, description, text, charset, timestamps, millrace, flink, tree);
  }

  Schema schema() {
    return Schema.of(column);
  }

  byte[] record() {
    return text.getBytes(charset);
  }

  /** The row of the table in docs/json.md. */
  String markdown() {
    String type = column.type() + (column.nullable() ? "" : " NOT NULL");
    String format = timestamps == TimestampFormat.SQL ? "" : ", `ISO-8601`";
    String flinks =
        tree.equals(flink)
            ? RecordResult.cell(flink)
            : RecordResult.cell(flink) + "; of a tree: " + RecordResult.cell(tree);
    return "| %s | %s%s | %s | %s |"
        .formatted(shown, code(type), format, RecordResult.cell(millrace), flinks);
  }

  private static String code(String text) {
    return "`" + text + "`";
  }

  @Override
  public String toString() {
    return markdown();
  }
}
