// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.json.JsonReader;
import io.millrace.parity.format.FlinkJson.Decoder;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.formats.common.TimestampFormat;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * {@link JsonReader} and Flink's format {@code json} make the same rows of records that both read;
 * {@link JsonDifferences} has the others.
 */
class JsonParityTest {
  /** The system property with the seconds that records are read for. */
  private static final int RECORDS = 500;

  /** A column of each type that is read from text and has no fields. */
  static final List<Field> SCALARS =
      List.of(
          Field.of("flag", DataType.BOOL),
          Field.of("tiny", DataType.INT8),
          Field.of("small", DataType.INT16),
          Field.of("number", DataType.INT32),
          Field.of("big", DataType.INT64),
          Field.of("real", DataType.FLOAT32),
          Field.of("double", DataType.FLOAT64),
          Field.of("price", DataType.decimal(7, 2)),
          Field.of("amount", DataType.decimal(15, 15)),
          Field.of("total", DataType.decimal(38, 10)),
          Field.of("count", DataType.decimal(38, 0)),
          Field.of("day", DataType.DATE),
          Field.of("time", DataType.TIME),
          Field.of("second", DataType.timestamp(0)),
          Field.of("milli", DataType.timestamp(3)),
          Field.of("micro", DataType.timestamp(6)),
          Field.of("nano", DataType.timestamp(9)),
          Field.of("instant", DataType.timestamp(3, true)),
          Field.of("na\"me\n\u00e9\ud83d\ude00", DataType.timestamp(9, true)),
          Field.of("text", DataType.STRING));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static Schema schema() {
    List<Field> inner = new ArrayList<>(SCALARS.subList(0, 7));
    inner.add(Field.of("place", DataType.struct(Field.of("text", DataType.STRING))));
    List<Field> fields = new ArrayList<>(SCALARS);
    fields.add(Field.of("address", DataType.struct(inner.toArray(Field[]::new))));
    DataType all = DataType.struct(SCALARS.toArray(Field[]::new));
    fields.add(Field.of("more", all));
    fields.add(Field.of("bytes", DataType.BINARY));
    fields.add(Field.of("list", DataType.list(all)));
    fields.add(Field.of("grid", DataType.list(DataType.list(DataType.STRING))));
    fields.add(Field.of("blocks", DataType.list(DataType.BINARY)));
    fields.add(
        Field.of("deep", DataType.struct(Field.of("numbers", DataType.list(DataType.INT32)))));
    return Schema.of(fields.toArray(Field[]::new));
  }

  @ParameterizedTest
  @CsvSource({"PARSER, SQL", "PARSER, ISO_8601", "TREE, SQL", "TREE, ISO_8601"})
  void rowsAreThoseOfFlink(Decoder decoder, TimestampFormat timestamps) throws Exception {
    Schema schema = schema();
    FlinkJson flink = new FlinkJson(schema, decoder, timestamps);
    // Flink's trees have no negative zeros.
    RandomRecords records =
        new RandomRecords(random.random(), timestamps, decoder == Decoder.PARSER);
    random.fuzz(
        () -> {
          List<byte[]> batch = new ArrayList<>();
          for (int i = 0; i < RECORDS; i++) {
            batch.add(records.record(schema.fields()).getBytes(StandardCharsets.UTF_8));
          }
          List<RecordResult> results =
              MillraceRecords.read(
                  (stream, memory) -> new JsonReader(schema, stream, memory), batch, device);
          for (int i = 0; i < RECORDS; i++) {
            String record = new String(batch.get(i), StandardCharsets.UTF_8);
            assertThat(results.get(i).fault()).as(record).isEmpty();
            assertThat(results.get(i)).as(record).isEqualTo(flink.read(batch.get(i)));
          }
        });
  }
}
