// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.json.JsonReader;
import io.millrace.parity.format.FlinkJson.Decoder;
import io.millrace.testing.DeviceExtension;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.apache.flink.formats.common.TimestampFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records that are made to break a parser: each is a row, or malformed, as by Flink's format. */
class HostileJsonParityTest {
  private static final String MALFORMED = "malformed";
  private static final int MEBIBYTE = 1 << 20;
  private static final int LARGE = 20 * MEBIBYTE;
  private static final int DEPTH = 100_000;
  private static final int MILLION = 1_000_000;

  private static final Schema SCHEMA =
      Schema.of(
          Field.of("v", DataType.INT32),
          Field.of("text", DataType.STRING),
          Field.of("price", DataType.decimal(20, 2)),
          Field.of("ratio", DataType.FLOAT64),
          Field.of("list", DataType.list(DataType.list(DataType.INT32))),
          Field.of("row", DataType.struct(Field.of("x", DataType.INT32))));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private RecordResult read(byte[] record) {
    // The records beside it are read whatever it is.
    byte[] good = bytes("{\"v\":7}");
    List<RecordResult> results =
        MillraceRecords.read(
            (stream, memory) -> new JsonReader(SCHEMA, stream, memory),
            List.of(good, record, good),
            device);
    assertThat(results.get(0).rows()).hasSize(1);
    assertThat(results.get(2)).isEqualTo(results.get(0));
    return results.get(1);
  }

  private static List<RecordResult> flink(byte[] record) throws Exception {
    List<RecordResult> results = new ArrayList<>();
    for (Decoder decoder : Decoder.values()) {
      results.add(new FlinkJson(SCHEMA, decoder, TimestampFormat.SQL).read(record));
    }
    return results;
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private void assertSameRow(String record) throws Exception {
    RecordResult result = read(bytes(record));
    assertThat(result.fault()).isEmpty();
    assertThat(flink(bytes(record))).containsOnly(result);
  }

  private RecordResult assertMalformed(byte[] record) throws Exception {
    RecordResult result = read(record);
    assertThat(result.text()).isEqualTo(MALFORMED);
    assertThat(flink(record)).extracting(RecordResult::text).containsOnly(MALFORMED);
    return result;
  }

  /** A difference from Flink: a row that Flink does not read. */
  private RecordResult assertRowHereAlone(String record) throws Exception {
    RecordResult result = read(bytes(record));
    assertThat(result.fault()).isEmpty();
    assertThat(flink(bytes(record))).extracting(RecordResult::text).containsOnly(MALFORMED);
    return result;
  }

  @Test
  void oneStringMayHaveAllTheBytesOfARecord() throws Exception {
    assertSameRow("{\"text\":\"" + "a\\n".repeat(6 * MEBIBYTE) + "\",\"v\":1}");
    String text = "a".repeat(LARGE);
    RecordResult row = assertRowHereAlone("{\"text\":\"" + text + "\"}");
    assertThat(row.rows().get(0).get(1)).isEqualTo(text);
  }

  @Test
  void aRecordMayHaveAMillionMembers() throws Exception {
    String member = "\"unknown\":[1,{\"v\":2}],";
    assertSameRow("{" + member.repeat(LARGE / member.length()) + "\"v\":1}");
    StringBuilder names = new StringBuilder("{");
    for (int i = 0; i < MILLION; i++) {
      names.append('"').append(i).append("\":").append(i).append(',');
    }
    assertSameRow(names.append("\"v\":1}").toString());
  }

  @Test
  void aListMayHaveMillionsOfElements() throws Exception {
    assertSameRow("{\"list\":[" + "[1],".repeat(MILLION) + "[]],\"v\":1}");
  }

  @Test
  void aListMayHaveMillionsOfBadElements() throws Exception {
    RecordResult result =
        assertMalformed(bytes("{\"list\":[" + "{},".repeat(4 * MILLION) + "[]]}"));
    assertThat(result.fault()).startsWith("column 'list.element': expected ARRAY<INT>, got");
  }

  @ParameterizedTest
  @ValueSource(strings = {"unknown", "list", "row", "v", "text"})
  void deepValuesAreMalformed(String name) throws Exception {
    String arrays = "[".repeat(DEPTH) + "]".repeat(DEPTH);
    String objects = "{\"x\":".repeat(DEPTH) + "1" + "}".repeat(DEPTH);
    for (String value : List.of(arrays, objects, "[".repeat(LARGE), "[{\"a\":".repeat(DEPTH))) {
      RecordResult flinks = flink(bytes("{\"" + name + "\":" + value + "}")).get(1);
      assertThat(flinks.text()).isEqualTo(MALFORMED);
      assertThat(read(bytes("{\"" + name + "\":" + value + "}")).text()).isEqualTo(MALFORMED);
    }
  }

  @Test
  void numbersMayHaveAMillionDigits() throws Exception {
    String digits = "1".repeat(MILLION);
    assertMalformed(bytes("{\"v\":" + digits + "}"));
    assertMalformed(bytes("{\"price\":" + digits + "}"));
    assertMalformed(bytes("{\"ratio\":" + digits + "}"));
    assertMalformed(bytes("{\"v\":0" + "0".repeat(MILLION) + "}"));
    assertMalformed(bytes("{\"v\":1e" + digits + "}"));
    assertRowHereAlone("{\"unknown\":" + digits + "}");
    RecordResult row =
        assertRowHereAlone("{\"price\":0." + digits + ",\"ratio\":0." + digits + "}");
    assertThat(row.rows().get(0).get(2)).hasToString("0.11");
    assertThat(row.rows().get(0).get(3)).isEqualTo(1.0 / 9);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "80",
        "bf",
        "c3",
        "c328",
        "e282",
        "e228a1",
        "e28228",
        "f09f98",
        "f09f9828",
        "f0289fbf",
        "fe",
        "ff",
        "f8888080af",
        "fc8080808080"
      })
  void textThatIsNotUtf8IsMalformed(String hex) throws Exception {
    assertThat(assertMalformed(inString("text", hex)).fault()).isEqualTo("invalid UTF-8");
    assertThat(read(inString("unknown", hex)).fault()).isEqualTo("invalid UTF-8");
  }

  /** Flink's parser decodes forms that UTF-8 forbids. */
  @ParameterizedTest
  @ValueSource(
      strings = {"c080", "c1bf", "e080af", "eda080", "edbfbf", "f08080af", "f4908080", "f5808080"})
  void formsThatUtf8ForbidsAreMalformedHereAlone(String hex) throws Exception {
    assertThat(read(inString("text", hex)).fault()).isEqualTo("invalid UTF-8");
    assertThat(flink(inString("text", hex))).extracting(RecordResult::fault).containsOnly("");
  }

  private static byte[] inString(String name, String hex) {
    ByteArrayOutputStream record = new ByteArrayOutputStream();
    record.writeBytes(bytes("{\"" + name + "\":\"a"));
    record.writeBytes(HexFormat.of().parseHex(hex));
    record.writeBytes(bytes("\"}"));
    return record.toByteArray();
  }

  @Test
  void halvesOfSurrogatePairsAreQuestionMarks() throws Exception {
    assertSameRow("{\"text\":\"\\ud800 \\udc00 \\ud800\\ud800 \\udc00\\ud800 \\ud800\\u0041\"}");
  }

  @Test
  void aRecordThatIsCutAnywhereIsMalformed() throws Exception {
    byte[] record =
        bytes(
            " {\"text\":\"\u00e9\\u00e9\ud83d\ude00\",\"v\" : -12, \"price\":1.5e1,\"list\":[[1,null],[]],"
                + "\"unknown\":{\"a\":[true,false,null]},\"row\":{\"x\":1}}");
    assertSameRow(new String(record, StandardCharsets.UTF_8));
    for (int length = 2; length < record.length; length++) {
      assertMalformed(Arrays.copyOf(record, length));
    }
  }
}
