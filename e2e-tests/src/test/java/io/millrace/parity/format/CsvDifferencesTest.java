// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.format.csv.CsvReader;
import io.millrace.testing.DeviceExtension;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each of {@link CsvDifferences} is still one, and docs/csv.md lists them. */
class CsvDifferencesTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  static Stream<CsvDifference> differences() {
    return CsvDifferences.all();
  }

  @ParameterizedTest
  @MethodSource("differences")
  void resultsDiffer(CsvDifference difference) throws Exception {
    RecordResult millrace =
        MillraceRecords.read(
                (stream, memory) ->
                    new CsvReader(
                        difference.schema(), difference.settings().options(), stream, memory),
                List.of(difference.record()),
                device)
            .get(0);
    FlinkCsv flink = new FlinkCsv(difference.schema(), difference.settings());
    assertThat(millrace.text()).isEqualTo(difference.millrace());
    assertThat(flink.read(difference.record()).text()).isEqualTo(difference.flink());
    assertThat(difference.flink()).isNotEqualTo(difference.millrace());
  }

  @Test
  void thePageListsThem() throws IOException {
    new DifferencesTable("csv.md", "record | types and Flink's options")
        .assertRows(CsvDifferences.all().map(CsvDifference::markdown));
  }
}
