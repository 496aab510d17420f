// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.format.json.JsonReader;
import io.millrace.parity.format.FlinkJson.Decoder;
import io.millrace.testing.DeviceExtension;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.formats.json.JsonFormatOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each of {@link JsonDifferences} is still one, and docs/json.md lists them. */
class JsonDifferencesTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  static Stream<JsonDifference> differences() {
    return JsonDifferences.all();
  }

  @ParameterizedTest
  @MethodSource("differences")
  void resultsDiffer(JsonDifference difference) throws Exception {
    List<byte[]> records = List.of(difference.record());
    RecordResult millrace =
        MillraceRecords.read(
                (stream, memory) -> new JsonReader(difference.schema(), stream, memory),
                records,
                device)
            .get(0);
    String flink = flink(difference, Decoder.PARSER);
    String tree = flink(difference, Decoder.TREE);
    assertThat(millrace.text()).isEqualTo(difference.millrace());
    assertThat(flink).isEqualTo(difference.flink());
    assertThat(tree).isEqualTo(difference.tree());
    assertThat(List.of(flink, tree))
        .isNotEqualTo(List.of(difference.millrace(), difference.millrace()));
  }

  private static String flink(JsonDifference difference, Decoder decoder) throws Exception {
    FlinkJson flink = new FlinkJson(difference.schema(), decoder, difference.timestamps());
    return flink.read(difference.record()).text();
  }

  @Test
  void flinksDefaultIsTheParser() {
    assertThat(JsonFormatOptions.DECODE_JSON_PARSER_ENABLED.defaultValue()).isTrue();
  }

  @Test
  void thePageListsThem() throws IOException {
    new DifferencesTable("json.md", "record or value | type")
        .assertRows(JsonDifferences.all().map(JsonDifference::markdown));
  }
}
