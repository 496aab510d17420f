// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import static io.millrace.format.record.ChangeEnvelope.CANAL;
import static io.millrace.format.record.ChangeEnvelope.DEBEZIUM;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.json.JsonChangeReader;
import io.millrace.format.record.ChangeEnvelope;
import io.millrace.operators.row.RowKindColumn;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * {@link JsonChangeReader} and Flink's formats {@code debezium-json} and {@code canal-json} make
 * the same rows, with the same kinds and in the same order, of changes that both read, and find the
 * same ones malformed.
 */
class ChangeParityTest {
  private static final int RECORDS = 300;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static List<Field> fields() {
    List<Field> fields = new ArrayList<>(JsonParityTest.SCALARS);
    fields.add(Field.of("place", DataType.struct(Field.of("px", DataType.INT32))));
    fields.add(Field.of("tags", DataType.list(DataType.STRING)));
    return fields;
  }

  private static Schema schema() {
    return RowKindColumn.addTo(new Schema(fields()));
  }

  @Test
  void changesOfDebeziumAreThoseOfFlink() throws Exception {
    assertSameRows(DEBEZIUM, false, FlinkChanges.debezium(schema(), false));
  }

  @Test
  void changesOfDebeziumWithSchemaAreThoseOfFlink() throws Exception {
    assertSameRows(DEBEZIUM, true, FlinkChanges.debezium(schema(), true));
  }

  @Test
  void changesOfCanalAreThoseOfFlink() throws Exception {
    assertSameRows(CANAL, false, FlinkChanges.canal(schema()));
  }

  private void assertSameRows(ChangeEnvelope envelope, boolean hasSchema, FlinkChanges flink) {
    Schema schema = schema();
    RandomChanges changes = new RandomChanges(random.random(), envelope, false);
    String payload = hasSchema ? JsonChangeReader.PAYLOAD : "";
    random.fuzz(
        () -> {
          List<byte[]> batch = new ArrayList<>();
          for (int i = 0; i < RECORDS; i++) {
            batch.add(changes.change(fields(), hasSchema).getBytes(StandardCharsets.UTF_8));
          }
          List<RecordResult> results =
              MillraceRecords.read(
                  (stream, memory) ->
                      new JsonChangeReader(schema, envelope, payload, stream, memory),
                  batch,
                  device);
          int malformed = 0;
          for (int i = 0; i < RECORDS; i++) {
            String record = new String(batch.get(i), StandardCharsets.UTF_8);
            RecordResult expected = flink.read(batch.get(i));
            RecordResult result = results.get(i);
            assertThat(result.fault().isEmpty())
                .as("%s; here: %s; Flink: %s", record, result.fault(), expected.fault())
                .isEqualTo(expected.fault().isEmpty());
            assertThat(result.rows()).as(record).isEqualTo(expected.rows());
            malformed += expected.fault().isEmpty() ? 0 : 1;
          }
          assertThat(malformed).isBetween(1, RECORDS / 2);
        });
  }
}
