// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import static io.millrace.format.record.ChangeEnvelope.CANAL;
import static io.millrace.format.record.ChangeEnvelope.DEBEZIUM;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.device.DeviceStream;
import io.millrace.format.RecordReader;
import io.millrace.format.json.JsonChangeReader;
import io.millrace.format.json.JsonReader;
import io.millrace.format.record.ChangeEnvelope;
import io.millrace.memory.MemoryResource;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.parity.format.FlinkJson.Decoder;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.flink.formats.common.TimestampFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Random records that were damaged at random: what Millrace reads, Flink reads to the same rows.
 * Flink reads more: numbers in strings, say, and what is behind a record.
 */
class DamagedRecordsParityTest {
  private static final int RECORDS = 300;
  private static final String BYTES = "\"\\{}[]:,0123456789.eE+-tfnu \t\r\n\u0000\u001f/xXaA=";

  /** A number or an exponent that Flink does not read for its length, or not soon. */
  private static final Pattern LONG_NUMBER = Pattern.compile("[0-9.]{900}|[eE][-+]?[0-9]{7}");

  private static final Pattern ESCAPED_DIGIT = Pattern.compile("\\\\u003([0-9])");

  /** Without times, of which Millrace reads more forms, and numbers that trees round twice. */
  private static final List<Field> FIELDS =
      List.of(
          Field.of("flag", DataType.BOOL),
          Field.of("small", DataType.INT16),
          Field.of("big", DataType.INT64),
          Field.of("price", DataType.decimal(12, 3)),
          Field.of("text", DataType.STRING),
          Field.of("bytes", DataType.BINARY),
          Field.of("tags", DataType.list(DataType.STRING)),
          Field.of(
              "parts",
              DataType.list(
                  DataType.struct(
                      Field.of("px", DataType.INT32),
                      Field.of("grid", DataType.list(DataType.list(DataType.INT64)))))));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void recordsOfJson() throws Exception {
    Schema schema = new Schema(FIELDS);
    FlinkJson parser = new FlinkJson(schema, Decoder.PARSER, TimestampFormat.SQL);
    RandomRecords records = new RandomRecords(random.random(), TimestampFormat.SQL, false);
    assertFlinkReadsTheSame(
        (stream, memory) -> new JsonReader(schema, stream, memory),
        () -> records.record(FIELDS),
        parser::read);
  }

  @Test
  void changesOfDebezium() throws Exception {
    assertFlinkReadsTheSame(DEBEZIUM, FlinkChanges.debezium(changelog(), false));
  }

  @Test
  void changesOfCanal() throws Exception {
    assertFlinkReadsTheSame(CANAL, FlinkChanges.canal(changelog()));
  }

  private static Schema changelog() {
    return RowKindColumn.addTo(new Schema(FIELDS));
  }

  private void assertFlinkReadsTheSame(ChangeEnvelope envelope, FlinkChanges flink) {
    RandomChanges changes = new RandomChanges(random.random(), envelope, true);
    assertFlinkReadsTheSame(
        (stream, memory) -> new JsonChangeReader(changelog(), envelope, "", stream, memory),
        () -> changes.change(FIELDS, false),
        flink::read);
  }

  private void assertFlinkReadsTheSame(
      BiFunction<DeviceStream, MemoryResource, RecordReader> reader,
      Supplier<String> records,
      Function<byte[], RecordResult> flink) {
    random.fuzz(
        () -> {
          List<byte[]> batch = damaged(records);
          assertFlinkReadsTheSame(batch, MillraceRecords.read(reader, batch, device), flink);
        });
  }

  private List<byte[]> damaged(Supplier<String> records) {
    Random numbers = random.random();
    List<byte[]> batch = new ArrayList<>();
    for (int i = 0; i < RECORDS; i++) {
      byte[] record = records.get().getBytes(StandardCharsets.UTF_8);
      for (int left = numbers.nextInt(3); left > 0 && record.length > 0; left--) {
        record = damage(record, numbers);
      }
      batch.add(record);
    }
    return batch;
  }

  private static void assertFlinkReadsTheSame(
      List<byte[]> batch, List<RecordResult> results, Function<byte[], RecordResult> flink) {
    int rows = 0;
    for (int i = 0; i < RECORDS; i++) {
      RecordResult result = results.get(i);
      if (!result.rows().isEmpty()) {
        String record = new String(batch.get(i), StandardCharsets.UTF_8);
        if (!hasLongNumber(record)) {
          assertThat(flink.apply(batch.get(i))).as(record).isEqualTo(result);
          rows++;
        }
      }
    }
    assertThat(rows).isPositive();
  }

  private static boolean hasLongNumber(String record) {
    return LONG_NUMBER.matcher(ESCAPED_DIGIT.matcher(record).replaceAll("$1")).find();
  }

  private static byte[] damage(byte[] record, Random numbers) {
    int at = numbers.nextInt(record.length);
    byte[] damaged = record.clone();
    switch (numbers.nextInt(4)) {
      case 0 -> damaged[at] = (byte) BYTES.charAt(numbers.nextInt(BYTES.length()));
      case 1 -> damaged[at] = (byte) numbers.nextInt();
      case 2 -> damaged[at] ^= (byte) (1 << numbers.nextInt(Byte.SIZE));
      default -> {
        int from = numbers.nextInt(record.length);
        int length = Math.min(numbers.nextInt(12), record.length - Math.max(at, from));
        System.arraycopy(record, from, damaged, at, length);
      }
    }
    return damaged;
  }
}
