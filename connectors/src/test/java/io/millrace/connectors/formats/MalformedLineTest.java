// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import java.nio.charset.StandardCharsets;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A line that is not a row is reported with a reason that names the column and the value. */
class MalformedLineTest {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of("small", DataType.INT8),
          Field.of("ratio", DataType.FLOAT64),
          Field.of("amount", DataType.decimal(5, 2)),
          Field.of("flag", DataType.BOOL),
          Field.of("day", DataType.DATE),
          Field.of("at", DataType.timestamp(3)),
          Field.of("instant", DataType.timestamp(3, true)),
          Field.of("bytes", DataType.BINARY),
          Field.of("name", DataType.STRING),
          Field.of("tags", DataType.list(DataType.INT32)),
          Field.of("inner", DataType.struct(Field.of("x", DataType.INT32))));

  private static final Schema PAIR =
      Schema.of(Field.of("a", DataType.INT32), Field.of("b", DataType.INT32));

  private final LineParser json = new JsonLineParser(SCHEMA);

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{|no JSON",
        "{\"id\":1|no JSON",
        "{\"id\":1}}|no JSON",
        "{\"id\":1} {\"id\":2}|more behind",
        "{\"id\":1} x|no JSON",
        "[1]|not a JSON object",
        "5|not a JSON object",
        "null|not a JSON object",
        "not json|no JSON",
        "{id:1}|no JSON",
        "{\"id\":01}|no JSON",
        "{\"id\":NaN}|no JSON",
        "{\"small\":1}|'id' is missing but NOT NULL",
        "{\"id\":null}|'id' is null but NOT NULL",
        "{\"id\":1,\"id\":2}|'id' is there twice",
        "{\"id\":\"1\"}|'id'",
        "{\"id\":1.0}|'id'",
        "{\"id\":9223372036854775808}|9223372036854775808",
        "{\"id\":1,\"small\":128}|'small': expected TINYINT, got '128'",
        "{\"id\":1,\"ratio\":\"x\"}|'ratio'",
        "{\"id\":1,\"ratio\":1e999}|'ratio'",
        "{\"id\":1,\"amount\":1000}|'amount': expected DECIMAL(5, 2), got '1000'",
        "{\"id\":1,\"amount\":999.999}|'amount'",
        "{\"id\":1,\"amount\":1e999999999}|'amount'",
        "{\"id\":1,\"flag\":\"true\"}|'flag'",
        "{\"id\":1,\"flag\":1}|'flag'",
        "{\"id\":1,\"day\":\"2024-02-30\"}|'day'",
        "{\"id\":1,\"day\":20240101}|'day'",
        "{\"id\":1,\"at\":\"2024-01-01\"}|'at'",
        "{\"id\":1,\"at\":\"2024-01-01T00:00:00Z\"}|'at'",
        "{\"id\":1,\"instant\":\"2024-01-01T00:00:00\"}|'instant'",
        "{\"id\":1,\"bytes\":\"*\"}|'bytes'",
        "{\"id\":1,\"name\":5}|'name'",
        "{\"id\":1,\"name\":{}}|'name': expected STRING, got a JSON object",
        "{\"id\":1,\"tags\":5}|'tags'",
        "{\"id\":1,\"tags\":[1,\"x\"]}|'tags.element'",
        "{\"id\":1,\"tags\":[1,2}|no JSON",
        "{\"id\":1,\"inner\":[]}|'inner'",
        "{\"id\":1,\"inner\":{\"x\":true}}|'inner.x'",
      })
  void json(String line, String reason) {
    assertMalformed(json, line, reason);
  }

  @Test
  void jsonThatIsNotUtf8() {
    byte[] line = "{\"id\":1,\"name\":\"\u00ff\"}".getBytes(StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> json.parse(line))
        .isInstanceOf(MalformedLineException.class)
        .hasMessageContaining("UTF-8");
  }

  @Test
  void jsonTooDeep() {
    assertMalformed(json, "{\"id\":1,\"other\":" + "[".repeat(100_000), "no JSON");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "  ", "\t"})
  void blankJsonLinesAreSkipped(String line) throws Exception {
    assertThat(json.parse(line.getBytes(StandardCharsets.UTF_8))).isEmpty();
  }

  @Test
  void otherMembersAreSkipped() throws Exception {
    String line = "{\"x\":{\"id\":[7]},\"id\":1,\"y\":null}";
    RowData row = json.parse(line.getBytes(StandardCharsets.UTF_8)).orElseThrow();
    assertThat(row.getLong(0)).isEqualTo(1);
    assertThat(row.isNullAt(1)).isTrue();
  }

  @Test
  void decimalsAreRoundedAndTimestampsCut() throws Exception {
    String line = "{\"id\":1,\"amount\":\"1.005\",\"at\":\"2024-01-01 00:00:00.123999\"}";
    RowData row = json.parse(line.getBytes(StandardCharsets.UTF_8)).orElseThrow();
    assertThat(row.getDecimal(3, 5, 2).toString()).isEqualTo("1.01");
    assertThat(row.getTimestamp(6, 3).getMillisecond() % 1000).isEqualTo(123);
  }

  @Test
  void aTinyDecimalIsZero() throws Exception {
    String line = "{\"id\":1,\"amount\":1e-999999999}";
    RowData row = json.parse(line.getBytes(StandardCharsets.UTF_8)).orElseThrow();
    assertThat(row.getDecimal(3, 5, 2).toString()).isEqualTo("0.00");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "1|1 fields, but there are 4 columns",
        "1,2,3,4,5|5 fields, but there are 4 columns",
        ",,,|'id' is null but NOT NULL",
        "x,,,|'id': expected BIGINT, got 'x'",
        "\"\",,,|'id': expected BIGINT, got ''",
        "\" 1\",,,|'id': expected BIGINT, got ' 1'",
        "1,1d,,|'ratio'",
        "1,0x1p3,,|'ratio'",
        "1,1e400,,|'ratio'",
        "1,,\"a\"b,|no CSV: text behind a closing quote at character 7",
        "1,,\"a,|no CSV: a quote that is not closed at character 4",
        "1,,a\"b\",|no CSV: a quote within a field without quotes at character 5",
        "1,,,[1 2]|no JSON",
        "1,,,\" \"|no JSON value",
      })
  void csv(String line, String reason) {
    Schema schema =
        Schema.of(
            new Field("id", DataType.INT64, false),
            Field.of("ratio", DataType.FLOAT64),
            Field.of("name", DataType.STRING),
            Field.of("tags", DataType.list(DataType.INT32)));
    assertMalformed(new CsvLineParser(schema, CsvOptions.DEFAULT), line, reason);
  }

  @Test
  void csvThatIsNotUtf8() {
    LineParser csv =
        new CsvLineParser(Schema.of(Field.of("name", DataType.STRING)), CsvOptions.DEFAULT);
    byte[] line = "a\u00ff".getBytes(StandardCharsets.ISO_8859_1);
    assertThatThrownBy(() -> csv.parse(line)).isInstanceOf(MalformedLineException.class);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "a|the header has no column 'b'; its columns are [a]",
        "A,b|the header has no column 'a'; its columns are [A, b]",
        "``|the header has no column 'a'; its columns are [null]",
        "a,b,c,a|the header has column 'a' twice",
        "a,\"b|no CSV: a quote that is not closed",
      })
  void aHeaderThatDoesNotNameTheColumns(String header, String reason) {
    LineParser csv = new CsvLineParser(PAIR, CsvOptions.DEFAULT.withHeader(true));
    assertThatThrownBy(() -> csv.useHeader(header.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(MalformedLineException.class)
        .hasMessageStartingWith(reason);
  }

  @Test
  void fieldsAreTheColumnsThatTheHeaderNames() throws Exception {
    LineParser csv = new CsvLineParser(PAIR, CsvOptions.DEFAULT.withHeader(true));
    csv.useHeader("b,other,\"a\"".getBytes(StandardCharsets.UTF_8));
    assertThat(csv.parse("1,x,2".getBytes(StandardCharsets.UTF_8)))
        .hasValue(GenericRowData.of(2, 1));
    assertMalformed(csv, "1,2", "2 fields, but there are 3 columns");
    csv.useHeader("a,b".getBytes(StandardCharsets.UTF_8));
    assertThat(csv.parse("1,2".getBytes(StandardCharsets.UTF_8))).hasValue(GenericRowData.of(1, 2));
  }

  @Test
  void linesWithoutTheirHeaderAreNotReadByPosition() {
    LineParser csv = new CsvLineParser(PAIR, CsvOptions.DEFAULT.withHeader(true));
    assertThatThrownBy(() -> csv.parse("1,2".getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(IllegalStateException.class);
  }

  private static void assertMalformed(LineParser parser, String line, String reason) {
    assertThatThrownBy(() -> parser.parse(line.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(MalformedLineException.class)
        .hasMessageContaining(reason);
  }
}
