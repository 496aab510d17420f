// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.column.TypeId;
import io.millrace.connectors.files.TextLine;
import io.millrace.connectors.files.TextLineFixture;
import io.millrace.connectors.files.TextLineOptions;
import io.millrace.format.RecordWriter;
import io.millrace.format.WrittenRecords;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The line reader and the parser of a format read the output of its encoder. */
class TextRoundTripTest {
  private static final int ROWS = 300;
  private static final CsvOptions SEMICOLONS =
      CsvOptions.DEFAULT.withHeader(true).withDelimiter(';');
  private static final List<String> AWKWARD_STRINGS =
      Arrays.asList(
          "",
          null,
          "null",
          " ",
          " padded ",
          "\"",
          "\"\"",
          "a\"b",
          "\"quoted\"",
          "a,b",
          ",",
          ";",
          "\n",
          "a\nb",
          "a\r\nb",
          "\r",
          "\t\b\f",
          "\0",
          "\u001f\u007f",
          "\\",
          "\\n",
          "\\u0041",
          "/",
          "#",
          "'",
          "{\"a\":1}",
          "ä€😀\u2028",
          "İıſ",
          "\ufeff",
          "1e5");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private enum Format {
    JSON {
      @Override
      RecordEncoder encoder() {
        return new JsonLinesEncoder();
      }

      @Override
      LineParser parser(Schema schema) {
        return new JsonLineParser(schema);
      }
    },
    CSV {
      @Override
      RecordEncoder encoder() {
        return new CsvEncoder(CsvOptions.DEFAULT);
      }

      @Override
      LineParser parser(Schema schema) {
        return new CsvLineParser(schema, CsvOptions.DEFAULT);
      }
    },
    CSV_WITH_HEADER_AND_SEMICOLONS {
      @Override
      RecordEncoder encoder() {
        return new CsvEncoder(SEMICOLONS);
      }

      @Override
      LineParser parser(Schema schema) {
        return new CsvLineParser(schema, SEMICOLONS);
      }
    };

    abstract RecordEncoder encoder();

    abstract LineParser parser(Schema schema);

    TextLineOptions lines() {
      return switch (this) {
        case JSON -> TextLineOptions.DEFAULT;
        case CSV -> TextLineOptions.DEFAULT.withQuotedLineFeeds(',');
        case CSV_WITH_HEADER_AND_SEMICOLONS ->
            TextLineOptions.DEFAULT.withQuotedLineFeeds(';').withHeader(true);
      };
    }
  }

  @ParameterizedTest
  @EnumSource
  void randomValuesOfAllTypes(Format format) throws Exception {
    Schema schema = DataTypes.schema(DataTypes.flat());
    assertRoundTrip(format, new RandomTables(random.random(), 0.2).rows(schema, ROWS), schema);
    Schema nested = DataTypes.schema(DataTypes.nested());
    assertRoundTrip(format, new RandomTables(random.random(), 0.2).rows(nested, ROWS), nested);
  }

  @ParameterizedTest
  @EnumSource
  void awkwardStrings(Format format) throws Exception {
    Schema schema =
        Schema.of(
            Field.of("a \"name\", with; all\\", DataType.STRING),
            Field.of("number", DataType.INT32),
            Field.of("list", DataType.list(DataType.STRING)),
            Field.of("last", DataType.STRING));
    List<List<Object>> rows = new ArrayList<>();
    for (String text : AWKWARD_STRINGS) {
      rows.add(Arrays.asList(text, rows.size(), Arrays.asList(text, "x", null), text));
    }
    assertRoundTrip(format, rows, schema);
  }

  @ParameterizedTest
  @EnumSource
  void oneColumnOfNulls(Format format) throws Exception {
    Schema schema = Schema.of(Field.of("only", DataType.STRING));
    List<List<Object>> rows =
        List.of(Arrays.asList("x"), Arrays.asList((Object) null), Arrays.asList(""));
    assertRoundTrip(format, rows, schema);
  }

  @ParameterizedTest
  @EnumSource
  void slicesStartAtTheirFirstRow(Format format) throws Exception {
    Schema schema = DataTypes.schema(DataTypes.all());
    try (Table slice = new RandomTables(random.random(), 0.2).generateSliced(schema, 50, device)) {
      assertThat(readBack(format, slice)).isEqualTo(device.rows(slice));
    }
  }

  @Test
  void jsonIsWrittenAsExpected() throws Exception {
    try (Table table =
        new TableBuilder()
            .column("a", DataType.INT64, 1L, Long.MIN_VALUE)
            .column("b", DataType.STRING, "x\ty", null)
            .column("c", DataType.FLOAT64, Double.NaN, -0.5)
            .build(device)) {
      assertThat(text(Format.JSON, table))
          .isEqualTo(
              """
              {"a":1,"b":"x\\ty","c":"NaN"}
              {"a":-9223372036854775808,"b":null,"c":-0.5}
              """);
    }
  }

  @Test
  void csvIsWrittenAsExpected() throws Exception {
    try (Table table =
        new TableBuilder()
            .column("a", DataType.INT64, 1L, null)
            .column("b", DataType.STRING, "say \"x\"; or y", "")
            .build(device)) {
      assertThat(text(Format.CSV_WITH_HEADER_AND_SEMICOLONS, table))
          .isEqualTo(
              """
              a;b
              1;"say ""x""; or y"
              ;""
              """);
    }
  }

  private void assertRoundTrip(Format format, List<List<Object>> rows, Schema schema)
      throws Exception {
    try (Table table = TableBuilder.ofRows(schema, rows).build(device)) {
      assertThat(readBack(format, table)).isEqualTo(device.rows(table));
    }
  }

  private List<List<Object>> readBack(Format format, Table table) throws Exception {
    LineParser parser = format.parser(table.schema());
    Schema schema = decoded(table.schema());
    try (RowTableBuilder builder =
        new RowTableBuilder(schema, device.hostStream(), device.hostMemory())) {
      RowDataAppender appender = new RowDataAppender(builder);
      byte[] file = text(format, table).getBytes(StandardCharsets.UTF_8);
      int rows = 0;
      for (TextLine line : TextLineFixture.read(file, format.lines())) {
        if (line.header() != null) {
          parser.useHeader(line.header());
        }
        var row = parser.parse(line.bytes());
        if (row.isPresent()) {
          appender.append(row.get());
          rows++;
        }
      }
      assertThat(rows).isEqualTo(table.rowCount());
      try (Table read = builder.finish(rows)) {
        return device.rows(read);
      }
    }
  }

  private static Schema decoded(Schema schema) {
    return new Schema(
        schema.fields().stream()
            .map(
                field ->
                    field.type().id() == TypeId.DICTIONARY
                        ? Field.of(field.name(), field.type().fields().get(0).type())
                        : field)
            .toList());
  }

  private String text(Format format, Table table) {
    RecordEncoder encoder = format.encoder();
    StringBuilder text = new StringBuilder();
    text.append(new String(encoder.fileStart(table.schema()), StandardCharsets.UTF_8));
    try (RecordWriter writer =
        encoder.createWriter(table.schema(), device.stream(), device.memory())) {
      for (byte[] record : WrittenRecords.of(writer, table, device)) {
        text.append(new String(record, StandardCharsets.UTF_8));
      }
    }
    return text.toString();
  }
}
