// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.TimestampFormat;
import io.millrace.format.WrittenRecords;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonWriterTest {
  private static final int MEBIBYTE = 1 << 20;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** All types, timestamps of each precision, and decimals with and without digits on a side. */
  private static Schema schema() {
    List<DataType> types = new ArrayList<>(DataTypes.all());
    for (int precision = 0; precision <= 9; precision++) {
      types.add(DataType.timestamp(precision));
      types.add(DataType.timestamp(precision, true));
    }
    types.add(DataType.decimal(38, 38));
    types.add(DataType.decimal(38, 0));
    types.add(DataType.decimal(19, 1));
    types.add(DataType.decimal(18, 0));
    types.add(DataType.decimal(5, 5));
    types.add(DataType.list(DataType.FLOAT64));
    types.add(DataType.dictionary(DataType.list(DataType.STRING)));
    return DataTypes.schema(types);
  }

  private List<String> lines(Table table) {
    try (JsonWriter writer = new JsonWriter(table.schema(), device.stream(), device.memory())) {
      return WrittenRecords.of(writer, table, device).stream()
          .map(record -> new String(record, StandardCharsets.UTF_8))
          .toList();
    }
  }

  private void assertAsExpected(Table table) {
    List<String> expected =
        device.rows(table).stream()
            .map(row -> ReferenceJson.object(table.schema().fields(), row) + "\n")
            .toList();
    assertThat(lines(table)).isEqualTo(expected);
  }

  private String line(TableBuilder builder) {
    try (Table table = builder.build(device)) {
      return String.join("", lines(table));
    }
  }

  @Test
  void timestampsOfSqlHaveASpace() {
    LocalDateTime time = LocalDateTime.of(2026, 1, 2, 3, 4, 5, 600_000_000);
    TableBuilder builder =
        new TableBuilder()
            .column("at", DataType.timestamp(3), time)
            .column("instant", DataType.timestamp(0, true), time.toInstant(ZoneOffset.UTC))
            .column("nanos", DataType.timestamp(9), time)
            .column("day", DataType.DATE, time.toLocalDate());
    try (Table table = builder.build(device);
        JsonWriter writer =
            new JsonWriter(table.schema(), TimestampFormat.SQL, device.stream(), device.memory())) {
      assertThat(WrittenRecords.of(writer, table, device))
          .extracting(record -> new String(record, StandardCharsets.UTF_8))
          .containsExactly(
              "{\"at\":\"2026-01-02 03:04:05.600\",\"instant\":\"2026-01-02 03:04:05Z\","
                  + "\"nanos\":\"2026-01-02 03:04:05.600000000\",\"day\":\"2026-01-02\"}\n");
    }
  }

  @Test
  void timesBelowZeroCountFromTheEndOfTheDay() {
    TableBuilder builder =
        new TableBuilder()
            .column("a", DataType.TIME, -1)
            .column("b", DataType.TIME, -86_400_000)
            .column("c", DataType.TIME, Integer.MIN_VALUE);
    assertThat(line(builder))
        .isEqualTo("{\"a\":\"23:59:59.999\",\"b\":\"00:00:00.000\",\"c\":\"03:28:36.352\"}\n");
  }

  @Test
  void valuesHaveTheirForms() {
    TableBuilder builder =
        new TableBuilder()
            .column("flag", DataType.BOOL, true)
            .column("tiny", DataType.INT8, (byte) -128)
            .column("big", DataType.INT64, Long.MIN_VALUE)
            .column("double", DataType.FLOAT64, Double.NaN)
            .column("price", DataType.decimal(7, 2), new BigDecimal("-0.05"))
            .column(
                "total",
                DataType.decimal(38, 1),
                new BigDecimal("-9999999999999999999999999999999999999.9"))
            .column("day", DataType.DATE, LocalDate.of(-1, 2, 28))
            .column("late", DataType.DATE, LocalDate.of(12_345, 12, 31))
            .column("at", DataType.timestamp(9), LocalDateTime.of(2026, 1, 2, 3, 4, 5, 6))
            .column("a \"name\"\n", DataType.STRING, "x\t\"\\\u0000\u001f/é😀")
            .column("list", DataType.list(DataType.INT32), Arrays.asList(1, null))
            .column("empty", DataType.list(DataType.INT32), List.of())
            .column(
                "row",
                DataType.struct(
                    Field.of("a", DataType.struct(Field.of("b", DataType.INT32))),
                    Field.of("c", DataType.STRING)),
                Arrays.asList(Arrays.asList((Object) null), ""));
    assertThat(line(builder))
        .isEqualTo(
            "{\"flag\":true,\"tiny\":-128,\"big\":-9223372036854775808,\"double\":\"NaN\","
                + "\"price\":-0.05,\"total\":-9999999999999999999999999999999999999.9,"
                + "\"day\":\"-0001-02-28\",\"late\":\"+12345-12-31\","
                + "\"at\":\"2026-01-02T03:04:05.000000006\","
                + "\"a \\\"name\\\"\\n\":\"x\\t\\\"\\\\\\u0000\\u001f/é😀\","
                + "\"list\":[1,null],\"empty\":[],\"row\":{\"a\":{\"b\":null},\"c\":\"\"}}\n");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 31, 32, 33, 127, 128, 129, 255, 256, 257})
  void rowsOfAllTypes(int rows) {
    for (double nulls : new double[] {0, 0.3, 1}) {
      RandomTables tables = new RandomTables(random.random(), nulls);
      try (Table table = tables.generate(schema(), rows, device);
          Table slice = tables.generateSliced(schema(), rows, device)) {
        assertAsExpected(table);
        assertAsExpected(slice);
      }
    }
  }

  @RowCountTest
  void rowsOfManyBlocks(int rowCount) {
    Schema schema =
        Schema.of(
            new Field("id", DataType.INT64, false),
            Field.of("name", DataType.STRING),
            Field.of("at", DataType.timestamp(3)));
    try (Table table =
        new RandomTables(random.random(), 0.1).generateSliced(schema, rowCount, device)) {
      assertAsExpected(table);
    }
  }

  @Test
  void stringsOfEachLengthAtEachPlace() {
    List<String> texts =
        IntStream.range(0, 70)
            .mapToObj(length -> "0123456789".repeat(7).substring(0, length))
            .toList();
    List<String> escapes =
        IntStream.range(0, 70)
            .mapToObj(place -> "a".repeat(place) + "\n" + "b".repeat(70 - place))
            .toList();
    try (Table table =
        new TableBuilder()
            .column(Field.of("text", DataType.STRING), texts)
            .column(Field.of("escape", DataType.STRING), escapes)
            .build(device)) {
      assertAsExpected(table);
    }
  }

  @Test
  void allCharactersOfOneByte() {
    String all =
        IntStream.range(0, 128)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
    try (Table table = new TableBuilder().column("text", DataType.STRING, all).build(device)) {
      assertAsExpected(table);
    }
  }

  @Test
  void longStrings() {
    String text = "a rather long string \"with\" escapes\n".repeat(4 * MEBIBYTE / 36);
    try (Table table =
        new TableBuilder()
            .column("text", DataType.STRING, text, "", text, null, "x")
            .build(device)) {
      assertAsExpected(table);
    }
  }

  @Test
  void bytesThatAreNotUtf8AreWrittenAsTheyAre() {
    byte[] bytes = {(byte) 0xff, 'a', (byte) 0xc3, '"', (byte) 0x80, (byte) 0x1f};
    byte[] expected = {'{', '"', 'v', '"', ':', '"', (byte) 0xff, 'a', (byte) 0xc3, '\\', '"'};
    try (Table binary =
            new TableBuilder().column("v", DataType.BINARY, ByteBuffer.wrap(bytes)).build(device);
        Column text =
            new Column(
                DataType.STRING,
                1,
                0,
                binary.column(0).data().orElseThrow().share(),
                null,
                List.of(binary.column(0).child(0).share()));
        Table table =
            new Table(Schema.of(Field.of("v", DataType.STRING)), List.of(text.share()), 1);
        JsonWriter writer = new JsonWriter(table.schema(), device.stream(), device.memory())) {
      byte[] record = WrittenRecords.of(writer, table, device).get(0);
      assertThat(record).startsWith(expected).hasSize(expected.length + 7 + 3);
      assertThat(record[expected.length]).isEqualTo((byte) 0x80);
    }
  }

  @Test
  void rowsWithoutColumns() {
    try (Table table = new Table(Schema.of(), List.of(), 33);
        Table none = new Table(Schema.of(), List.of(), 0)) {
      assertThat(lines(table)).isEqualTo(Collections.nCopies(33, "{}\n"));
      assertThat(lines(none)).isEmpty();
    }
  }

  @Test
  void manyColumns() {
    Schema schema = DataTypes.schema(Collections.nCopies(500, DataType.INT32));
    try (Table table = new RandomTables(random.random(), 0.2).generate(schema, 40, device)) {
      assertAsExpected(table);
    }
  }

  @Test
  void theReaderReadsThemBack() {
    Schema schema =
        DataTypes.schema(
            List.of(
                DataType.BOOL,
                DataType.INT64,
                DataType.FLOAT32,
                DataType.FLOAT64,
                DataType.decimal(38, 10),
                DataType.STRING,
                DataType.struct(Field.of("text", DataType.STRING))));
    try (Table table = new RandomTables(random.random(), 0.2).generate(schema, 1000, device);
        JsonWriter writer = new JsonWriter(schema, device.stream(), device.memory());
        JsonReader reader = new JsonReader(schema, device.stream(), device.memory());
        RecordBytes records = writer.write(table);
        ParsedRecords parsed = reader.read(records)) {
      assertThat(parsed.malformed()).isEmpty();
      assertThat(device.rows(parsed.table())).isEqualTo(device.rows(table));
    }
  }

  @Test
  void aWriterWritesTablesOfItsSchema() {
    Schema schema = Schema.of(Field.of("a", DataType.INT32));
    try (JsonWriter writer = new JsonWriter(schema, device.stream(), device.memory());
        Table table = new TableBuilder().column("b", DataType.INT32, 1).build(device)) {
      assertThatThrownBy(() -> writer.write(table))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("expected rows of ");
    }
  }

  @Test
  void mapsAreNeitherWrittenNorRead() {
    DataType map = DataType.map(Field.of("k", DataType.STRING), Field.of("v", DataType.INT32));
    Schema schema = Schema.of(Field.of("a", DataType.struct(Field.of("m", map))));
    assertThat(JsonWriter.unsupported(schema))
        .contains("column 'a' has the type ROW<m MAP<STRING, INT>>");
    assertThat(JsonReader.unsupported(schema))
        .contains("field 'a.m' has the type MAP<STRING, INT>");
  }

  @Test
  void listsInEachOtherHaveALimit() {
    DataType type = DataType.INT32;
    for (int i = 0; i < 8; i++) {
      type = DataType.list(type);
    }
    try (Table table =
        new RandomTables(random.random(), 0.1)
            .generate(Schema.of(Field.of("deep", type)), 3, device)) {
      assertAsExpected(table);
    }
    Schema tooDeep = Schema.of(Field.of("deep", DataType.list(type)));
    assertThat(JsonWriter.unsupported(tooDeep))
        .hasValue("column 'deep' has more than 8 lists and dictionaries in each other");
    assertThatThrownBy(() -> new JsonWriter(tooDeep, device.stream(), device.memory()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "rows cannot be written: column 'deep' has more than 8 lists and dictionaries in each"
                + " other");
  }
}
