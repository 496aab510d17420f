// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.parity.format.FlinkJson.Decoder;
import io.millrace.testing.DeviceExtension;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.formats.json.JsonFormatOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each of {@link JsonDifferences} is still one, and docs/json.md lists them. */
class JsonDifferencesTest {
  private static final Path PAGE = Path.of("../docs/json.md");
  private static final boolean WRITE = "write".equals(System.getProperty("millrace.reference"));
  private static final String HEAD =
      "| record or value | type | Millrace | Flink |\n|---|---|---|---|\n";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  static Stream<JsonDifference> differences() {
    return JsonDifferences.all();
  }

  @ParameterizedTest
  @MethodSource("differences")
  void resultsDiffer(JsonDifference difference) throws Exception {
    List<byte[]> records = List.of(difference.record());
    RecordResult millrace = MillraceJson.read(difference.schema(), records, device).get(0);
    String flink = flink(difference, Decoder.PARSER);
    String tree = flink(difference, Decoder.TREE);
    assertThat(JsonDifference.textOf(millrace)).isEqualTo(difference.millrace());
    assertThat(flink).isEqualTo(difference.flink());
    assertThat(tree).isEqualTo(difference.tree());
    assertThat(List.of(flink, tree))
        .isNotEqualTo(List.of(difference.millrace(), difference.millrace()));
  }

  private static String flink(JsonDifference difference, Decoder decoder) throws Exception {
    FlinkJson flink = new FlinkJson(difference.schema(), decoder, difference.timestamps());
    return JsonDifference.textOf(flink.read(difference.record()));
  }

  @Test
  void flinksDefaultIsTheParser() {
    assertThat(JsonFormatOptions.DECODE_JSON_PARSER_ENABLED.defaultValue()).isTrue();
  }

  @Test
  void thePageListsThem() throws IOException {
    assumeTrue(Files.exists(PAGE), "only where the sources are");
    String table =
        HEAD + JsonDifferences.all().map(d -> d.markdown() + "\n").collect(Collectors.joining());
    String page = Files.readString(PAGE);
    int start = page.indexOf(HEAD);
    assertThat(start).isPositive();
    int end = page.indexOf("\n\n", start) + 1;
    if (WRITE) {
      page = page.substring(0, start) + table + page.substring(end);
      Files.writeString(PAGE, page);
    }
    assertThat(page)
        .as("%s; write it again with -Dmillrace.reference=write", PAGE)
        .contains(table + "\n");
  }
}
