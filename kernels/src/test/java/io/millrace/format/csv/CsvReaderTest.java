// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.csv;

import static io.millrace.format.RandomValues.SCALARS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.FieldQuotes;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordLines;
import io.millrace.testing.CudaStructures;
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
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CsvReaderTest {
  private static final CsvReaderOptions DEFAULT = CsvReaderOptions.DEFAULT;
  private static final FieldQuotes ESCAPES = new FieldQuotes(';', '"', '\\');
  private static final Schema PAIR =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("name", DataType.STRING));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private List<List<Object>> rows(Schema schema, CsvReaderOptions options, String text) {
    try (ParsedRecords parsed = CsvLines.read(schema, options, text, device)) {
      assertThat(parsed.malformed()).isEmpty();
      return device.rows(parsed.table());
    }
  }

  private List<Object> strings(CsvReaderOptions options, String text) {
    Schema schema = Schema.of(Field.of("v", DataType.STRING));
    return rows(schema, options, text).stream().map(row -> row.get(0)).toList();
  }

  private List<String> reasons(Schema schema, CsvReaderOptions options, String text) {
    try (ParsedRecords parsed = CsvLines.read(schema, options, text, device)) {
      return parsed.malformed().stream().map(MalformedRecord::reason).toList();
    }
  }

  @Test
  void eachTypeHasItsForm() {
    String line =
        "TRUE,-128,+32767,-0,-9223372036854775808,1e-45,-.25E+4,12345.675,\"-0.0005\","
            + "1234567890123456789012345678.01234567895,2024-02-29,23:59:59.9999,"
            + "2026-11-21T10:00:00.9,1969-12-31 23:59:59.9999,0000-01-01T00:00:00.0000019,"
            + "\"9999-12-31T23:59:59.123456789\",2026-11-21T10:00:00.5+01:30,"
            + "\"a \"\"é\"\", 😀\n\"";
    assertThat(rows(SCALARS, DEFAULT, line))
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
                "a \"é\", 😀\n"));
  }

  @Test
  void timesHaveTheDigitsOfTheirPrecision() {
    Schema times =
        Schema.of(
            Field.of("a", DataType.TIME),
            Field.of("b", DataType.TIME),
            Field.of("c", DataType.TIME),
            Field.of("d", DataType.TIME));
    CsvReaderOptions options = DEFAULT.withTimePrecisions(Map.of("a", 0, "b", 1, "c", 2));
    String time = "10:20:30.129";
    assertThat(rows(times, options, String.join(",", time, time, time, time)).toString())
        .isEqualTo("[[10:20:30, 10:20:30.100, 10:20:30.120, 10:20:30.129]]");
    assertThatThrownBy(() -> DEFAULT.withTimePrecisions(Map.of("a", 4)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected a precision from 0 to 3 of the TIME 'a', got 4");
  }

  @Test
  void emptyFieldsAreNullAndBlankRecordsAreSkipped() {
    List<Object> nulls = Collections.nCopies(SCALARS.size(), null);
    String line = ",".repeat(SCALARS.size() - 1);
    assertThat(rows(SCALARS, DEFAULT, line + "\n\n\r\n" + line + "\r\n" + line))
        .isEqualTo(Collections.nCopies(3, nulls));
  }

  @Test
  void aBlankRecordOfOneFieldIsTheField() {
    assertThat(strings(DEFAULT, "\n\"\"\r\n\r\n \n\"\n\""))
        .containsExactly(null, "", null, " ", "\n");
  }

  @Test
  void lastFieldsMayBeEmpty() {
    Schema schema = Schema.of(Field.of("a", DataType.STRING), Field.of("b", DataType.STRING));
    assertThat(rows(schema, DEFAULT, "x,\n,\"\"\n\"\","))
        .containsExactly(
            Arrays.asList("x", null), Arrays.asList(null, ""), Arrays.asList("", null));
  }

  @Test
  void theNullLiteralIsNotQuoted() {
    CsvReaderOptions options = DEFAULT.withNullLiteral("not available");
    assertThat(strings(options, "not available\n\"not available\"\nnot availablE\n\n"))
        .containsExactly(null, "not available", "not availablE", "");
  }

  @Test
  void escapesStandForCharacters() {
    CsvReaderOptions options = DEFAULT.withQuotes(ESCAPES);
    assertThat(strings(options, "a\\;\\\"b\\\\\n\"\\\"\\n\\0\"\"\"\n\"\\é\\t\n\"\n"))
        .containsExactly("a;\"b\\", "\"\n\0\"", "é\t\n");
    assertThat(reasons(Schema.of(Field.of("v", DataType.INT32)), options, "\\1\n12\\"))
        .containsExactly(
            "column 'v': the value is not a valid INT",
            "an escape character at the end of the record");
  }

  @Test
  void quotesMayBeMissingFromTheFormat() {
    CsvReaderOptions options =
        DEFAULT.withQuotes(
            new FieldQuotes('\t', FieldQuotes.NO_CHARACTER, FieldQuotes.NO_CHARACTER));
    assertThat(strings(options, "\"a\nb\"c\n")).containsExactly("\"a", "b\"c");
  }

  @Test
  void aHeaderNamesTheFields() {
    CsvReaderOptions options = DEFAULT.withHeader(List.of("x", "name", "id", "y"));
    assertThat(rows(PAIR, options, "\"skipped\n\",Ann,7,\n")).containsExactly(List.of(7L, "Ann"));
    CsvReaderOptions lacking = DEFAULT.withHeader(List.of("id"));
    assertThatThrownBy(() -> new CsvReader(PAIR, lacking, device.stream(), device.memory()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the header has no column 'name'; its columns are [id]");
  }

  @Test
  void fieldsMayBeMissingOrTooManyWithinLimits() {
    CsvReaderOptions options = DEFAULT.withFieldCount(1, 2);
    assertThat(rows(PAIR, options, "1\n2,b\n3,c,x,\n"))
        .containsExactly(Arrays.asList(1L, null), Arrays.asList(2L, "b"), Arrays.asList(3L, "c"));
    assertThat(reasons(PAIR, options, "1,a,x,y,z\n2,b,\"\n"))
        .containsExactly("more than 4 fields", "a quote that is not closed");
    Schema required =
        Schema.of(Field.of("name", DataType.STRING), new Field("id", DataType.INT64, false));
    assertThat(reasons(required, options, "x\n"))
        .containsExactly("column 'id' is NOT NULL, but is missing");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "`1`|1|`too few fields: 1`",
        "`1,a,`|4|`more than 2 fields`",
        "`1,a\"b`|3|`a quote within a field without quotes`",
        "`1,\"a\"b`|5|`text behind a closing quote`",
        "`1,\"a\" `|5|`text behind a closing quote`",
        "`,a`|0|`column 'id' is NOT NULL, got null`",
        "`\"\",a`|0|`column 'id': the value is not a valid BIGINT`",
        "` 1,a`|0|`column 'id': the value is not a valid BIGINT`",
        "`1 ,a`|0|`column 'id': the value is not a valid BIGINT`",
        "`1.0,a`|0|`column 'id': the value is not a valid BIGINT`",
        "`9223372036854775808,a`|0|`column 'id': the value is not a valid BIGINT`",
        "`\"1\"\"\",a`|0|`column 'id': the value is not a valid BIGINT`",
      })
  void aMalformedRecordCostsOnlyItself(String record, int position, String reason) {
    String before = "1,a\n\n";
    String text = before + record + "\n2,b";
    try (ParsedRecords parsed = CsvLines.read(PAIR, DEFAULT, text, device)) {
      assertThat(parsed.malformed())
          .containsExactly(
              new MalformedRecord(2, before.length(), record.length() + 1, position, reason));
      assertThat(device.rows(parsed.table())).containsExactly(List.of(1L, "a"), List.of(2L, "b"));
      assertThat(parsed.recordOf(1)).isEqualTo(3);
    }
  }

  @Test
  void textThatIsNotUtf8IsMalformedAlsoWhereItIsSkipped() {
    byte[] text = "1,é\n2,x,é\n3,\"é\"\n4,a\n".getBytes(StandardCharsets.ISO_8859_1);
    try (ParsedRecords parsed = CsvLines.read(PAIR, DEFAULT.withFieldCount(0, 1), text, device)) {
      assertThat(parsed.malformed())
          .containsExactly(
              new MalformedRecord(0, 0, 4, 2, "invalid UTF-8"),
              new MalformedRecord(1, 4, 6, 4, "invalid UTF-8"),
              new MalformedRecord(2, 10, 6, 3, "invalid UTF-8"));
      assertThat(device.rows(parsed.table())).containsExactly(List.of(4L, "a"));
    }
  }

  @Test
  void numbersThatTheLastDigitsDecideAreExact() {
    Schema schema = Schema.of(Field.of("d", DataType.FLOAT64), Field.of("f", DataType.FLOAT32));
    String text =
        """
        1,"-NaN"
        +9007199254740993.00000000000000001,16777217.0000000000000000000001
        -9007199254740993.00000000000000000,NaN
        1e309,1
        -Infinity,Infinity
        1,+Infinity
        """;
    try (ParsedRecords parsed = CsvLines.read(schema, CsvReaderOptions.DEFAULT, text, device)) {
      assertThat(device.rows(parsed.table()))
          .containsExactly(
              List.of(9007199254740994.0, 16777218f),
              List.of(-9007199254740992.0, Float.NaN),
              List.of(Double.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY));
      assertThat(parsed.malformed().stream().map(MalformedRecord::record)).containsExactly(0, 3, 5);
    }
  }

  @Test
  void someOfTheRecordsAreRead() {
    byte[] text = "1,a\n2,b\nx\n3,c\n4,d".getBytes(StandardCharsets.UTF_8);
    try (RecordBytes records = RecordLines.of(text, device);
        RecordBytes middle = records.slice(1, 3);
        CsvReader reader = new CsvReader(PAIR, DEFAULT, device.stream(), device.memory());
        ParsedRecords parsed = reader.read(middle);
        RecordBytes nothing = records.slice(2, 0);
        ParsedRecords none = reader.read(nothing)) {
      assertThat(device.rows(parsed.table())).containsExactly(List.of(2L, "b"), List.of(3L, "c"));
      assertThat(parsed.malformed()).hasSize(1);
      assertThat(none.table().rowCount()).isZero();
    }
  }

  @RowCountTest
  void rowsAreThoseThatWereWritten(int rowCount) {
    Random numbers = random.random();
    List<FieldQuotes> all = List.of(FieldQuotes.DEFAULT, ESCAPES, new FieldQuotes('x', '"', 'y'));
    for (FieldQuotes quotes : all) {
      CsvReaderOptions options = DEFAULT.withQuotes(quotes).withNullLiteral("-");
      List<List<Object>> expected = new ArrayList<>();
      StringBuilder text = new StringBuilder();
      for (int i = 0; i < rowCount; i++) {
        expected.add(RandomCsv.record(SCALARS, options, numbers, text));
        text.append(i % 3 == 0 ? "\r\n" : "\n");
      }
      assertThat(rows(SCALARS, options, text.toString())).isEqualTo(expected);
    }
  }

  @Test
  void typesThatAreNotReadAreRefused() {
    Schema schema = Schema.of(Field.of("a", DataType.list(DataType.INT32)));
    assertThat(CsvReader.unsupported(schema)).hasValue("field 'a' has the type ARRAY<INT>");
    assertThatThrownBy(() -> CsvReader.checkSupported(schema))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("CSV cannot be read into columns: field 'a' has the type ARRAY<INT>");
  }

  @Test
  void structuresAreThoseOfTheKernels() {
    assertThat(CsvFormat.Layout.LAYOUT.fields())
        .isEqualTo(CudaStructures.ofSources().layout("CsvPlan").fields());
  }
}
