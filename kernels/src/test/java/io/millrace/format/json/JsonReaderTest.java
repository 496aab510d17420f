// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import static io.millrace.format.RandomValues.SCALARS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordLines;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RowCountTest;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonReaderTest {
  private static final Schema PERSON =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of(
              "address",
              DataType.struct(
                  Field.of("city", DataType.STRING),
                  new Field("zip", DataType.INT32, false),
                  Field.of("place", DataType.struct(Field.of("x", DataType.FLOAT64))))),
          Field.of("na\"me\n", DataType.STRING));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private List<List<Object>> rows(Schema schema, String lines) {
    try (ParsedRecords parsed = JsonLines.read(schema, lines, device)) {
      assertThat(parsed.malformed()).isEmpty();
      return device.rows(parsed.table());
    }
  }

  private Object value(DataType type, String json) {
    return rows(Schema.of(Field.of("v", type)), "{\"v\":" + json + "}").get(0).get(0);
  }

  @Test
  void eachTypeHasItsForm() {
    String line =
        """
        {"flag": true, "tiny": -128, "small": 32767, "number": -0, "big": -9223372036854775808,
         "real": 1e-45, "double": -2.5E+3, "price": 12345.675, "amount": "-0.0005",
         "total": 1234567890123456789012345678.01234567895, "day": "2024-02-29", "time": "23:59:59.9999",
         "second": "2026-11-21T10:00:00.9", "milli": "1969-12-31 23:59:59.9999",
         "micro": "0000-01-01T00:00:00.0000019", "nano": "9999-12-31T23:59:59.123456789",
         "instant": "2026-11-21T10:00:00.5+01:30", "text": "a\\u00e9\\ud83d\\ude00\\n\\/é"}"""
            .replace("\n", " ");
    assertThat(rows(SCALARS, line))
        .containsExactly(
            List.of(
                true,
                (byte) -128,
                (short) 32767,
                0,
                Long.MIN_VALUE,
                Float.MIN_VALUE,
                -2500.0,
                new BigDecimal("12345.68"),
                new BigDecimal("-0.001"),
                new BigDecimal("1234567890123456789012345678.0123456790"),
                LocalDate.of(2024, 2, 29),
                LocalTime.of(23, 59, 59, 999_000_000),
                LocalDateTime.of(2026, 11, 21, 10, 0),
                LocalDateTime.of(1969, 12, 31, 23, 59, 59, 999_000_000),
                LocalDateTime.of(0, 1, 1, 0, 0, 0, 1000),
                LocalDateTime.of(9999, 12, 31, 23, 59, 59, 123_456_789),
                Instant.parse("2026-11-21T08:30:00.5Z"),
                "aé😀\n/é"));
  }

  @Test
  void missingAndNullMembersAreNull() {
    List<Object> nulls = Collections.nCopies(SCALARS.size(), null);
    StringBuilder line = new StringBuilder("{");
    SCALARS.names().forEach(name -> line.append('"').append(name).append("\": null ,"));
    line.setCharAt(line.length() - 1, '}');
    assertThat(rows(SCALARS, "{}\n" + line + "\n\n \r\n{ }\r\n"))
        .isEqualTo(Collections.nCopies(3, nulls));
  }

  @Test
  void notFiniteNumbersAreStrings() {
    for (DataType type : List.of(DataType.FLOAT32, DataType.FLOAT64)) {
      assertThat(((Number) value(type, "\"NaN\"")).doubleValue()).isNaN();
      assertThat(((Number) value(type, "\"Infinity\"")).doubleValue())
          .isEqualTo(Double.POSITIVE_INFINITY);
      assertThat(((Number) value(type, "\"-Infinity\"")).doubleValue())
          .isEqualTo(Double.NEGATIVE_INFINITY);
    }
  }

  @Test
  void decimalsMayBeStringsAsBigDecimalReadsThem() {
    DataType type = DataType.decimal(10, 2);
    assertThat(value(type, "\"+1.5e2\"")).isEqualTo(new BigDecimal("150.00"));
    assertThat(value(type, "\".5\"")).isEqualTo(new BigDecimal("0.50"));
    assertThat(value(type, "\"7.\"")).isEqualTo(new BigDecimal("7.00"));
    assertThat(value(type, "\"0000000000000000000000000000001\""))
        .isEqualTo(new BigDecimal("1.00"));
    assertThat(value(type, "\"\\u0031\"")).isEqualTo(new BigDecimal("1.00"));
    assertThat(value(type, "0e99999")).isEqualTo(new BigDecimal("0.00"));
    assertThat(value(type, "9e-99999999999")).isEqualTo(new BigDecimal("0.00"));
    assertThat(value(type, "99999999.994")).isEqualTo(new BigDecimal("99999999.99"));
  }

  @Test
  void objectsAreStructs() {
    String lines =
        """
        {"address":{"place":{"x":1.5},"zip":7,"city":"Ulm"},"id":1,"na\\"me\\n":"A"}
        {"id":2,"skipped":[{"a":[1,{"b":"]}"}]},[],{}],"n\\u0061\\"me\\n":"B","address":{"city":null,"zip":8,"x":{}}}
        {"id":3,"address":null}
        """;
    List<Object> nothing = new ArrayList<>(Arrays.asList(3L, null, null));
    assertThat(rows(PERSON, lines))
        .containsExactly(
            List.of(1L, List.of("Ulm", 7, List.of(1.5)), "A"),
            List.of(2L, Arrays.asList(null, 8, null), "B"),
            nothing);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          `{"v":1`                  | 7 | `invalid JSON`
          `{"v":1,}`                | 8 | `invalid JSON`
          `{"v":01}`                | 7 | `invalid JSON`
          `{"v":1.}`                | 7 | `invalid JSON`
          `{"v":.5}`                | 5 | `invalid JSON`
          `{"v":+5}`                | 5 | `invalid JSON`
          `{"v":nul}`               | 5 | `invalid JSON`
          `{"v" 5}`                 | 5 | `invalid JSON`
          `{"w":[1,]}`              | 8 | `invalid JSON`
          `{"w":[1}`                | 7 | `invalid JSON`
          `{"w":{"a":1]}`           | 11 | `invalid JSON`
          `{"w":"\\x"}`             | 8 | `invalid JSON`
          `{"w":"\\u12g4"}`         | 11 | `invalid JSON`
          `{"w":"open}`             | 11 | `invalid JSON`
          `{'v':1}`                 | 2 | `invalid JSON`
          `[1]`                     | 4 | `expected a JSON object, got another JSON value`
          `"a"`                     | 4 | `expected a JSON object, got another JSON value`
          `{} {}`                   | 3 | `expected the end of the record behind the JSON value`
          `{"v":"1"}`               | 8 | `column 'v': expected INT, got a JSON value of another type`
          `{"v":1.0}`               | 8 | `column 'v': expected INT, got a JSON value of another type`
          `{"v":true}`              | 9 | `column 'v': expected INT, got a JSON value of another type`
          `{"v":{}}`                | 5 | `column 'v': expected INT, got a JSON value of another type`
          `{"v":2147483648}`        | 15 | `column 'v': the value is not a valid INT`
          `{"v":99999999999999999999}` | 25 | `column 'v': the value is not a valid INT`
          `{"v":1,"v":2}`           | 11 | `column 'v' is there more than once`
          `{"d":"2023-02-29"}`      | 17 | `column 'd': the value is not a valid DATE`
          `{"d":"2023-02-2"}`       | 16 | `column 'd': the value is not a valid DATE`
          `{"d":"2023-02-201"}`     | 18 | `column 'd': the value is not a valid DATE`
          `{"p":100000}`            | 11 | `column 'p': the value is not a valid DECIMAL(7, 2)`
          `{"p":99999.995}`         | 14 | `column 'p': the value is not a valid DECIMAL(7, 2)`
          `{"f":1e999}`             | 10 | `column 'f': the value is not a valid DOUBLE`
          `{"t":"2026-01-01T00:00:00+0130"}` | 31 | `column 't': the value is not a valid TIMESTAMP_LTZ(3)`
          `{"f":"Inf"}`             | 10 | `column 'f': expected DOUBLE, got a JSON value of another type`
          """)
  void aMalformedRecordCostsOnlyItself(String record, int position, String reason) {
    Schema schema =
        Schema.of(
            Field.of("v", DataType.INT32),
            Field.of("d", DataType.DATE),
            Field.of("p", DataType.decimal(7, 2)),
            Field.of("f", DataType.FLOAT64),
            Field.of("t", DataType.timestamp(3, true)));
    String before = "{\"v\":1}\n \n";
    try (ParsedRecords parsed = JsonLines.read(schema, before + record + "\n{\"v\":2}", device)) {
      assertThat(parsed.malformed())
          .containsExactly(
              new MalformedRecord(2, before.length(), record.length() + 1, position, reason));
      assertThat(device.rows(parsed.table()).stream().map(row -> row.get(0))).containsExactly(1, 2);
      assertThat(parsed.recordOf(0)).isZero();
      assertThat(parsed.recordOf(1)).isEqualTo(3);
    }
  }

  @Test
  void someOfTheRecordsAreRead() {
    Schema schema = Schema.of(Field.of("v", DataType.INT32));
    byte[] lines =
        "{\"v\":1}\n{\"v\":2}\nx\n{\"v\":3}\n{\"v\":4}\n".getBytes(StandardCharsets.UTF_8);
    try (RecordBytes records = RecordLines.of(lines, device);
        RecordBytes middle = records.slice(1, 3);
        JsonReader reader = new JsonReader(schema, device.stream(), device.memory());
        ParsedRecords parsed = reader.read(middle)) {
      assertThat(device.rows(parsed.table())).containsExactly(List.of(2), List.of(3));
      assertThat(parsed.malformed())
          .containsExactly(new MalformedRecord(1, 16, 2, 0, "invalid JSON"));
      assertThat(parsed.recordOf(1)).isEqualTo(2);
    }
  }

  @Test
  void columnsThatMayNotBeNullAreRequired() {
    String lines =
        """
        {"id":null}
        {"address":{}}
        {"id":1,"address":{"city":"Ulm"}}
        {"id":1}
        """;
    try (ParsedRecords parsed = JsonLines.read(PERSON, lines, device)) {
      assertThat(parsed.malformed().stream().map(MalformedRecord::reason))
          .containsExactly(
              "column 'id' is NOT NULL, got null",
              "column 'address.zip' is NOT NULL, but is missing",
              "column 'address.zip' is NOT NULL, but is missing");
      assertThat(parsed.table().rowCount()).isEqualTo(1);
    }
  }

  @Test
  void aThousandLevelsMayBeSkipped() {
    Schema schema = Schema.of(Field.of("v", DataType.INT32));
    String deep = "[".repeat(1000) + "]".repeat(1000);
    assertThat(rows(schema, "{\"w\":" + deep + ",\"v\":5}")).containsExactly(List.of(5));
    try (ParsedRecords parsed = JsonLines.read(schema, "{\"w\":[" + deep + "]}", device)) {
      assertThat(parsed.malformed().get(0).reason())
          .isEqualTo("JSON values are nested more than 1000 levels deep");
      assertThat(parsed.table().rowCount()).isZero();
    }
  }

  @RowCountTest
  void rowsAreThoseThatWereWritten(int rowCount) {
    Random numbers = random.random();
    List<List<Object>> expected = new ArrayList<>();
    StringBuilder lines = new StringBuilder();
    for (int i = 0; i < rowCount; i++) {
      expected.add(RandomJson.record(SCALARS, numbers, lines));
      lines.append('\n');
    }
    assertThat(rows(SCALARS, lines.toString())).isEqualTo(expected);
  }

  @Test
  void typesThatAreNotReadAreRefused() {
    DataType dictionary = DataType.dictionary(DataType.STRING);
    Schema schema =
        Schema.of(
            Field.of(
                "a", DataType.struct(Field.of("b", DataType.list(DataType.list(dictionary))))));
    String reason = "field 'a.b.element.element' has the type " + dictionary;
    assertThat(JsonReader.unsupported(schema)).hasValue(reason);
    assertThatThrownBy(() -> new JsonReader(schema, device.stream(), device.memory()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("JSON cannot be read into columns: " + reason);
  }
}
