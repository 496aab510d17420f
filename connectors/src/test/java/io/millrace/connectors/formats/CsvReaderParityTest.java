// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.formats;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.RowTableBuilder;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.files.TextLine;
import io.millrace.connectors.files.TextLineFixture;
import io.millrace.connectors.files.TextLineOptions;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.format.FieldQuotes;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordLines;
import io.millrace.format.csv.CsvReader;
import io.millrace.format.csv.CsvReaderOptions;
import io.millrace.format.csv.RandomCsv;
import io.millrace.memory.Buffer;
import io.millrace.operators.row.RowDataAppender;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableRows;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.regex.Pattern;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Records of CSV that were damaged at random: {@link CsvReader} finds the lines of the file source,
 * and makes the rows of {@link CsvLineParser} of them. The host and the device agree about each row
 * and each fault.
 */
class CsvReaderParityTest {
  /** The system property with the seconds that damaged records are read for. */
  private static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of("flag", DataType.BOOL),
          Field.of("price", DataType.decimal(12, 3)),
          Field.of("ratio", DataType.FLOAT64),
          Field.of("day", DataType.DATE),
          Field.of("time", DataType.TIME),
          Field.of("at", DataType.timestamp(6)),
          Field.of("instant", DataType.timestamp(9, true)),
          Field.of("name", DataType.STRING));

  private static final Schema ONE = Schema.of(Field.of("name", DataType.STRING));
  private static final String BYTES = "\"\"\"\"\n\n\r,;\t0123456789.eE+-tfT:Zz \\\u0000aN";
  private static final int RECORDS = 300;
  // What the line parser takes besides: years of other digits, and large exponents of a zero.
  private static final Pattern LENIENT =
      Pattern.compile("[^\\x00-\\x7f]|[+-][0-9]{4,}-|[eE][+-]?[0-9]{9}");

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private record Line(TextLine line, Optional<RowData> row, String fault) {}

  @ParameterizedTest
  @ValueSource(chars = {',', ';', '\t', '0'})
  void damagedRecordsAreThoseThatTheLineParserRefuses(char delimiter) throws Exception {
    CsvReaderOptions options =
        CsvReaderOptions.DEFAULT.withQuotes(
            new FieldQuotes(delimiter, '"', FieldQuotes.NO_CHARACTER));
    random.fuzz(
        () -> {
          for (Schema schema : List.of(SCHEMA, ONE)) {
            byte[] text = damagedRecords(schema, options, random.random());
            List<Line> lines = lines(schema, delimiter, text);
            try (Buffer buffer = RecordLines.buffer(text, device);
                RecordBytes records =
                    RecordBytes.quotedLines(
                        buffer, options.quotes(), device.stream(), device.memory());
                CsvReader reader =
                    new CsvReader(schema, options, device.stream(), device.memory());
                ParsedRecords parsed = reader.read(records)) {
              assertThat(records.count()).isEqualTo(lines.size());
              assertAgreesWithLines(schema, lines, parsed);
              assertAgreesWithHost(schema, options, text, parsed);
            }
          }
        });
  }

  private static byte[] damagedRecords(Schema schema, CsvReaderOptions options, Random numbers) {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    for (int i = 0; i < RECORDS; i++) {
      StringBuilder record = new StringBuilder();
      RandomCsv.record(schema, options, numbers, record);
      byte[] bytes = record.append('\n').toString().getBytes(StandardCharsets.UTF_8);
      for (int left = numbers.nextInt(4); left > 1; left--) {
        bytes = damage(bytes, numbers);
      }
      text.writeBytes(bytes);
    }
    return text.toByteArray();
  }

  private static byte[] damage(byte[] record, Random numbers) {
    int at = numbers.nextInt(record.length);
    byte[] damaged = record.clone();
    switch (numbers.nextInt(4)) {
      case 0 -> damaged[at] = (byte) BYTES.charAt(numbers.nextInt(BYTES.length()));
      case 1 -> damaged[at] = (byte) numbers.nextInt();
      case 2 -> damaged = Arrays.copyOf(record, Math.max(1, at));
      default -> {
        int from = numbers.nextInt(record.length);
        int length = Math.min(numbers.nextInt(6), record.length - Math.max(at, from));
        System.arraycopy(record, from, damaged, at, length);
      }
    }
    return damaged;
  }

  private static List<Line> lines(Schema schema, char delimiter, byte[] text) throws IOException {
    LineParser parser = new CsvLineParser(schema, CsvOptions.DEFAULT.withDelimiter(delimiter));
    List<Line> lines = new ArrayList<>();
    TextLineOptions options = TextLineOptions.DEFAULT.withQuotedLineFeeds(delimiter);
    for (TextLine line : TextLineFixture.read(text, options)) {
      try {
        lines.add(new Line(line, parser.parse(line.bytes()), ""));
      } catch (MalformedLineException e) {
        lines.add(new Line(line, Optional.empty(), e.getMessage()));
      }
    }
    return lines;
  }

  private void assertAgreesWithLines(Schema schema, List<Line> lines, ParsedRecords parsed) {
    List<Integer> malformed = parsed.malformed().stream().map(MalformedRecord::record).toList();
    List<RowData> rows = new ArrayList<>();
    List<Integer> records = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      Line line = lines.get(i);
      String shown = new String(line.line().bytes(), StandardCharsets.UTF_8);
      if (malformed.contains(i)) {
        MalformedRecord fault = parsed.malformed().get(malformed.indexOf(i));
        assertThat((long) fault.start()).isEqualTo(line.line().offset());
        assertThat(line.fault().isEmpty())
            .as("%s of %s, but a row: %s", fault.reason(), shown, line.row())
            .isEqualTo(line.row().isPresent() && LENIENT.matcher(shown).find());
      } else {
        assertThat(line.fault()).as(shown).isEmpty();
        if (line.row().isPresent()) {
          rows.add(line.row().get());
          records.add(i);
        }
      }
    }
    assertThat(device.rows(parsed.table())).isEqualTo(values(schema, rows));
    for (int row = 0; row < rows.size(); row++) {
      assertThat(parsed.recordOf(row)).isEqualTo(records.get(row));
    }
  }

  private List<List<Object>> values(Schema schema, List<RowData> rows) {
    try (RowTableBuilder builder =
        new RowTableBuilder(schema, device.hostStream(), device.hostMemory())) {
      RowDataAppender appender = new RowDataAppender(builder);
      rows.forEach(appender::append);
      try (Table table = builder.finish(rows.size())) {
        return device.rows(table);
      }
    }
  }

  private void assertAgreesWithHost(
      Schema schema, CsvReaderOptions options, byte[] text, ParsedRecords parsed) {
    if (!device.isCuda()) {
      return;
    }
    try (DeviceStream stream = HostDevice.INSTANCE.createStream();
        Buffer buffer = Buffer.allocate(text.length, stream, device.hostMemory())) {
      RecordLines.copy(text, buffer, stream);
      try (RecordBytes records =
              RecordBytes.quotedLines(buffer, options.quotes(), stream, device.hostMemory());
          CsvReader reader = new CsvReader(schema, options, stream, device.hostMemory());
          ParsedRecords expected = reader.read(records);
          Table host = device.copyToHost(parsed.table())) {
        assertThat(parsed.malformed()).isEqualTo(expected.malformed());
        assertThat(TableRows.ofHost(host, device.hostStream()))
            .isEqualTo(TableRows.ofHost(expected.table(), device.hostStream()));
      }
    }
  }
}
