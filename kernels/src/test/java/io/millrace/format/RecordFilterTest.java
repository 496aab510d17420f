// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.format.avro.AvroReader;
import io.millrace.format.avro.AvroType;
import io.millrace.format.avro.AvroWriter;
import io.millrace.format.avro.ReferenceAvro;
import io.millrace.format.csv.CsvReader;
import io.millrace.format.csv.CsvReaderOptions;
import io.millrace.format.csv.CsvWriter;
import io.millrace.format.json.JsonReader;
import io.millrace.format.json.JsonWriter;
import io.millrace.memory.MemoryResource;
import io.millrace.memory.resource.StatisticsResourceAdaptor;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Records of each format that are read with a condition. */
class RecordFilterTest {
  private static final int ROWS = 300;
  private static final int LARGE = 100_000;
  private static final Schema FIXED =
      Schema.of(
          new Field("id", DataType.INT32, false),
          Field.of("flag", DataType.BOOL),
          Field.of("small", DataType.INT16),
          Field.of("big", DataType.INT64),
          Field.of("real", DataType.FLOAT64),
          Field.of("price", DataType.decimal(9, 2)),
          Field.of("total", DataType.decimal(30, 2)),
          Field.of("milli", DataType.timestamp(3)),
          Field.of("nano", DataType.timestamp(9)));
  private static final Schema TEXT =
      FIXED.with(Field.of("text", DataType.STRING), new Field("name", DataType.STRING, false));
  private static final Schema NESTED =
      TEXT.with(
          Field.of("texts", DataType.list(DataType.STRING)),
          Field.of(
              "parts",
              DataType.list(
                  DataType.struct(
                      Field.of("x", DataType.INT32),
                      Field.of("names", DataType.list(DataType.STRING))))),
          Field.of("row", DataType.struct(Field.of("inside", DataType.STRING))));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /** Opens readers of one format. */
  private interface Readers {
    RecordReader open(Optional<RecordFilter> filter, MemoryResource memory);
  }

  private static RecordFilter filter(Expression condition) {
    return RecordFilter.of(condition, ExpressionSettings.DEFAULT);
  }

  private Readers json(Schema schema) {
    return (filter, memory) -> new JsonReader(schema, filter, device.stream(), memory);
  }

  private Readers csv(Schema schema) {
    return (filter, memory) ->
        new CsvReader(schema, CsvReaderOptions.DEFAULT, filter, device.stream(), memory);
  }

  private Readers avro(Schema schema, AvroType writer) {
    return (filter, memory) -> new AvroReader(schema, writer, filter, device.stream(), memory);
  }

  private void assertFiltered(Schema schema, Readers readers, Function<Schema, RecordWriter> writer)
      throws Exception {
    Random numbers = random.random();
    RandomConditions conditions = new RandomConditions(numbers, FIXED);
    for (int i = 0; i < 8; i++) {
      List<byte[]> records;
      try (Table table = new RandomTables(numbers, 0.2).generate(schema, ROWS, device);
          RecordWriter written = writer.apply(schema)) {
        records = damaged(WrittenRecords.of(written, table, device), numbers);
      }
      assertFiltered(readers, records, conditions.next());
    }
  }

  private static List<byte[]> damaged(List<byte[]> records, Random numbers) {
    List<byte[]> damaged = new ArrayList<>();
    for (byte[] record : records) {
      boolean isDamaged = numbers.nextInt(10) == 0;
      damaged.add(
          isDamaged ? Arrays.copyOf(record, numbers.nextInt(record.length + 1)) : record.clone());
    }
    return damaged;
  }

  private void assertFiltered(Readers readers, List<byte[]> records, Expression condition) {
    RecordFilter filter = filter(condition).withUnfiltered(List.of("milli", "id"));
    try (RecordBytes bytes = RecordLines.records(records, device);
        RecordReader all = readers.open(Optional.empty(), device.memory());
        ParsedRecords parsed = all.read(bytes);
        RecordReader some = readers.open(Optional.of(filter), device.memory());
        ParsedRecords kept = some.read(bytes)) {
      List<List<Object>> rows = device.rows(parsed.table());
      List<Integer> expected = rowsThatFulfil(condition, parsed.table());
      assertThat(device.rows(kept.table()))
          .as("%s", condition)
          .isEqualTo(expected.stream().map(rows::get).toList());
      assertThat(IntStream.range(0, expected.size()).map(kept::recordOf))
          .containsExactlyElementsOf(expected.stream().map(parsed::recordOf).toList());
      assertThat(kept.malformed()).isEqualTo(parsed.malformed());
      try (Table columns = parsed.table().select(List.of("milli", "id"))) {
        assertThat(device.rows(kept.unfiltered().orElseThrow())).isEqualTo(device.rows(columns));
      }
    }
  }

  private List<Integer> rowsThatFulfil(Expression condition, Table table) {
    Expression isTrue = condition.then(true, false);
    try (Calc calc =
            Calc.of(
                table.schema(),
                Optional.empty(),
                List.of(isTrue.as("kept")),
                ResolutionContext.DEFAULT);
        Table result = calc.apply(table, device.stream(), device.memory())) {
      List<List<Object>> values = device.rows(result);
      return IntStream.range(0, values.size())
          .filter(row -> values.get(row).get(0).equals(true))
          .boxed()
          .toList();
    }
  }

  @Test
  void recordsOfJson() throws Exception {
    assertFiltered(
        NESTED, json(NESTED), schema -> new JsonWriter(schema, device.stream(), device.memory()));
  }

  @Test
  void recordsOfCsv() throws Exception {
    assertFiltered(
        TEXT, csv(TEXT), schema -> new CsvWriter(schema, ',', device.stream(), device.memory()));
  }

  @Test
  void recordsOfAvro() throws Exception {
    List<Field> fields =
        NESTED.fields().stream()
            .filter(field -> field.type().id() != TypeId.TIMESTAMP_NANOS)
            .toList();
    Schema written = new Schema(fields);
    assertFiltered(
        written,
        avro(NESTED, ReferenceAvro.type(fields)),
        schema -> new AvroWriter(schema, device.stream(), device.memory()));
  }

  @Test
  void numbersThatTheHostRoundsAreComparedRounded() {
    Schema schema =
        Schema.of(
            Field.of("d", DataType.FLOAT64),
            Field.of("text", DataType.STRING),
            Field.of("texts", DataType.list(DataType.STRING)));
    String texts = ", \"text\": \"%s\", \"texts\": [\"%s\"]}\n";
    StringBuilder lines = new StringBuilder();
    for (String number :
        List.of("1", "9007199254740993.00000000001", "9007199254740994", "9007199254740993")) {
      lines.append("{\"d\": ").append(number).append(texts.formatted(number, number));
    }
    double even = 9007199254740992.0;
    List<Expression> conditions = List.of(col("d").gt(even), col("d").le(even));
    List<List<String>> expected =
        List.of(
            List.of("9007199254740993.00000000001", "9007199254740994"),
            List.of("1", "9007199254740993"));
    for (int i = 0; i < 2; i++) {
      RecordFilter filter = filter(conditions.get(i));
      try (RecordBytes bytes = lines(lines.toString());
          RecordReader reader = json(schema).open(Optional.of(filter), device.memory());
          ParsedRecords kept = reader.read(bytes)) {
        assertThat(device.rows(kept.table()).stream().map(row -> row.subList(1, 3)))
            .isEqualTo(expected.get(i).stream().map(text -> List.of(text, List.of(text))).toList());
      }
    }
  }

  private RecordBytes lines(String text) {
    return RecordLines.of(text.getBytes(StandardCharsets.UTF_8), device);
  }

  @Test
  void noRecordsAndNoRows() {
    RecordFilter filter = filter(col("id").gt(5));
    for (String text : List.of("", "{\"id\":1,\"name\":\"\"}\n", "{\n", "\n")) {
      try (RecordBytes bytes = lines(text);
          RecordReader reader = json(NESTED).open(Optional.of(filter), device.memory());
          ParsedRecords kept = reader.read(bytes)) {
        assertThat(kept.table().rowCount()).isZero();
        assertThat(kept.table().schema()).isEqualTo(NESTED);
        int rows = text.contains("1") ? 1 : 0;
        assertThat(kept.unfiltered().orElseThrow().rowCount()).isEqualTo(rows);
      }
    }
  }

  private long bytesAllocated(Readers readers, byte[] record, Optional<RecordFilter> filter) {
    StatisticsResourceAdaptor memory = new StatisticsResourceAdaptor(device.memory());
    try (RecordBytes bytes = RecordLines.records(List.of(record, record), device);
        RecordReader reader = readers.open(filter, memory)) {
      reader.read(bytes).close();
      return memory.statistics().totalBytes();
    }
  }

  private void assertBytesCopied(Function<Schema, Readers> readers, Schema all, byte[] record) {
    Readers some = readers.apply(Schema.of(Field.of("id", DataType.INT32)));
    Readers every = readers.apply(all);
    Optional<RecordFilter> none = Optional.of(filter(col("id").gt(7)));
    Optional<RecordFilter> both = Optional.of(filter(col("id").eq(7)));
    assertThat(bytesAllocated(some, record, Optional.empty())).isLessThan(LARGE / 4);
    assertThat(bytesAllocated(every, record, none)).isLessThan(LARGE / 4);
    assertThat(bytesAllocated(every, record, both)).isGreaterThan(2 * LARGE);
  }

  @Test
  void stringsThatAreNotReturnedAreNotCopied() {
    String large = "x".repeat(LARGE);
    Schema text = Schema.of(Field.of("id", DataType.INT32), Field.of("text", DataType.STRING));
    Schema texts =
        Schema.of(Field.of("id", DataType.INT32), Field.of("text", DataType.list(DataType.STRING)));
    assertBytesCopied(
        this::json,
        text,
        "{\"id\":7,\"text\":\"%s\"}".formatted(large).getBytes(StandardCharsets.UTF_8));
    assertBytesCopied(
        this::json,
        texts,
        "{\"id\":7,\"text\":[\"%s\"]}".formatted(large).getBytes(StandardCharsets.UTF_8));
    CsvReaderOptions header = CsvReaderOptions.DEFAULT.withHeader(List.of("id", "text"));
    assertBytesCopied(
        schema ->
            (filter, memory) -> new CsvReader(schema, header, filter, device.stream(), memory),
        text,
        ("7," + large).getBytes(StandardCharsets.UTF_8));
    for (Schema schema : List.of(text, texts)) {
      AvroType writer = ReferenceAvro.type(schema.fields());
      Object value = schema.equals(text) ? large : List.of(large);
      assertBytesCopied(
          columns -> avro(columns, writer),
          schema,
          ReferenceAvro.datum(schema.fields(), List.of(7, value)));
    }
  }

  @Test
  void conditionsThatCannotBeEvaluatedEarlyAreRefused() {
    assertThat(filter(col("id").gt(1)).unsupported(NESTED)).isEmpty();
    assertThat(filter(col("text").eq("a")).unsupported(NESTED))
        .contains("expected columns of fixed width in the condition, 'text' is STRING");
    assertThat(filter(col("texts").isNull()).unsupported(NESTED))
        .contains("expected columns of fixed width in the condition, 'texts' is ARRAY<STRING>");
    assertThat(filter(col("id").dividedBy(col("small")).gt(1)).unsupported(NESTED))
        .hasValueSatisfying(why -> assertThat(why).startsWith("the condition can fail for a row"));
    assertThat(filter(Expressions.lit(true)).unsupported(NESTED))
        .contains("the condition reads no column: TRUE");
    assertThat(filter(col("other").isNull()).unsupported(NESTED)).isPresent();
    assertThatThrownBy(
            () -> json(NESTED).open(Optional.of(filter(col("text").eq("a"))), device.memory()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "records cannot be filtered: expected columns of fixed width in the condition,"
                + " 'text' is STRING");
  }
}
