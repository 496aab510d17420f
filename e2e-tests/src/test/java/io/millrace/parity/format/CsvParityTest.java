// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Schema;
import io.millrace.format.csv.CsvReader;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * {@link CsvReader} and Flink's format {@code csv} make the same rows of records that both read;
 * {@link CsvDifferences} has the others.
 */
class CsvParityTest {
  /** The system property with the seconds that records are read for. */
  private static final int RECORDS = 500;

  private static final Schema SCHEMA = new Schema(JsonParityTest.SCALARS);

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @ParameterizedTest
  @EnumSource(names = {"EMPTY_AS_NULL", "NULL_LITERAL", "ESCAPES"})
  void rowsAreThoseOfFlink(CsvSettings settings) throws Exception {
    FlinkCsv flink = new FlinkCsv(SCHEMA, settings);
    RandomCsvRecords records = new RandomCsvRecords(random.random(), settings.options());
    random.fuzz(
        () -> {
          List<byte[]> batch = new ArrayList<>();
          for (int i = 0; i < RECORDS; i++) {
            batch.add(records.record(SCHEMA.fields()).getBytes(StandardCharsets.UTF_8));
          }
          List<RecordResult> results =
              MillraceRecords.read(
                  (stream, memory) -> new CsvReader(SCHEMA, settings.options(), stream, memory),
                  batch,
                  device);
          for (int i = 0; i < RECORDS; i++) {
            String record = new String(batch.get(i), StandardCharsets.UTF_8);
            assertThat(results.get(i).fault()).as(record).isEmpty();
            assertThat(results.get(i)).as(record).isEqualTo(flink.read(batch.get(i)));
          }
        });
  }
}
