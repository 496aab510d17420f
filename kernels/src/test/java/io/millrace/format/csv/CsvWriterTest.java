// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.csv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.format.TimestampFormat;
import io.millrace.format.WrittenRecords;
import io.millrace.format.json.ReferenceJson;
import io.millrace.format.write.ReferenceText;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CsvWriterTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private List<String> lines(Table table, char delimiter) {
    try (CsvWriter writer =
        new CsvWriter(table.schema(), delimiter, device.stream(), device.memory())) {
      return WrittenRecords.of(writer, table, device).stream()
          .map(record -> new String(record, StandardCharsets.UTF_8))
          .toList();
    }
  }

  private void assertAsExpected(Table table, char delimiter) {
    List<String> expected =
        device.rows(table).stream().map(row -> line(table.schema(), row, delimiter)).toList();
    assertThat(lines(table, delimiter)).isEqualTo(expected);
  }

  private static String line(Schema schema, List<Object> row, char delimiter) {
    return IntStream.range(0, row.size())
            .mapToObj(i -> field(schema.field(i).type(), row.get(i), delimiter))
            .collect(Collectors.joining(String.valueOf(delimiter)))
        + "\n";
  }

  private static String field(DataType type, Object value, char delimiter) {
    if (value == null) {
      return "";
    }
    String text =
        switch (type.id()) {
          case DICTIONARY -> null;
          case LIST, STRUCT -> ReferenceJson.value(type, value);
          default -> ReferenceText.scalar(type, value);
        };
    if (text == null) {
      return field(type.fields().get(0).type(), value, delimiter);
    }
    boolean needsQuotes =
        text.isEmpty()
            || text.chars().anyMatch(c -> c == delimiter || c == '"' || c == '\n' || c == '\r');
    return needsQuotes ? '"' + text.replace("\"", "\"\"") + '"' : text;
  }

  @Test
  void fieldsHaveQuotesOnlyIfTheyNeedThem() {
    try (Table table =
        new TableBuilder()
            .column("a", DataType.INT64, 1L, null, -3L)
            .column("b", DataType.STRING, "say \"x\"; or y", "", null)
            .column(
                "c",
                DataType.list(DataType.STRING),
                List.of("x", "y"),
                List.of(),
                Arrays.asList((Object) null))
            .column("d", DataType.STRING, "a,b", "line\nfeed", "\r")
            .build(device)) {
      assertThat(String.join("", lines(table, ';')))
          .isEqualTo(
              """
              1;"say ""x""; or y";"[""x"",""y""]";a,b
              ;"";[];"line
              feed"
              -3;;[null];"\r"
              """);
    }
  }

  @ParameterizedTest
  @ValueSource(chars = {',', ';', '\t', '\0', '-', ':', 'T', '1', '{', 'e'})
  void rowsOfAllTypes(char delimiter) {
    Schema schema = DataTypes.schema(DataTypes.all());
    for (double nulls : new double[] {0, 0.3, 1}) {
      RandomTables tables = new RandomTables(random.random(), nulls);
      try (Table table = tables.generate(schema, 129, device);
          Table slice = tables.generateSliced(schema, 65, device)) {
        assertAsExpected(table, delimiter);
        assertAsExpected(slice, delimiter);
      }
    }
  }

  @Test
  void timesWithASpaceHaveQuotesBetweenSpaces() {
    try (Table table =
            new TableBuilder()
                .column("a", DataType.INT64, 1L)
                .column("ts", DataType.timestamp(3), LocalDateTime.of(1970, 1, 1, 0, 0))
                .build(device);
        CsvWriter writer =
            new CsvWriter(
                table.schema(), ' ', TimestampFormat.SQL, device.stream(), device.memory())) {
      assertThat(WrittenRecords.of(writer, table, device))
          .extracting(record -> new String(record, StandardCharsets.UTF_8).strip())
          .containsExactly("1 \"1970-01-01 00:00:00.000\"");
    }
  }

  @RowCountTest
  void rowsOfManyBlocks(int rowCount) {
    Schema schema =
        Schema.of(
            new Field("id", DataType.INT64, false),
            Field.of("name", DataType.STRING),
            Field.of("price", DataType.decimal(12, 2)));
    try (Table table =
        new RandomTables(random.random(), 0.1).generateSliced(schema, rowCount, device)) {
      assertAsExpected(table, 'a');
    }
  }

  @Test
  void aSpecialCharacterAtEachPlace() {
    List<String> texts =
        IntStream.range(0, 40)
            .mapToObj(i -> "a".repeat(i) + ",\"\n\r".charAt(i % 4) + "é".repeat(i % 9))
            .toList();
    try (Table table =
        new TableBuilder().column(Field.of("text", DataType.STRING), texts).build(device)) {
      assertAsExpected(table, ',');
    }
  }

  @Test
  void longStrings() {
    String quotes = "some \"quotes\", ".repeat(1 << 18);
    String plain = "no quotes ".repeat(1 << 18);
    try (Table table =
        new TableBuilder().column("text", DataType.STRING, quotes, plain, null, "").build(device)) {
      assertAsExpected(table, ',');
    }
  }

  @Test
  void rowsWithoutColumns() {
    try (Table table = new Table(Schema.of(), List.of(), 3)) {
      assertThat(lines(table, ',')).isEqualTo(Collections.nCopies(3, "\n"));
    }
  }

  @ParameterizedTest
  @ValueSource(chars = {'"', '\n', '\r', 'é'})
  void someCharactersDelimitNoFields(char delimiter) {
    Schema schema = Schema.of(Field.of("a", DataType.INT32));
    assertThatThrownBy(() -> new CsvWriter(schema, delimiter, device.stream(), device.memory()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("fields cannot be delimited by '" + delimiter + "'");
  }
}
