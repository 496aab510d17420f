// SPDX-License-Identifier: Apache-2.0
package io.millrace.parity.format.avro;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.avro.WriterSchemas;
import io.millrace.format.avro.AvroReader;
import io.millrace.format.avro.AvroType;
import io.millrace.parity.format.MillraceRecords;
import io.millrace.parity.format.RecordResult;
import io.millrace.testing.DeviceExtension;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@link AvroReader} and Flink's format read differently: the table of docs/avro.md. */
class AvroDifferencesTest {
  private static final String RECORD =
      "{\"type\":\"record\",\"name\":\"r\",\"fields\":[{\"name\":\"v\",\"type\":%s}]}";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static DataType type(String name) {
    return switch (name) {
      case "TINYINT" -> DataType.INT8;
      case "INT" -> DataType.INT32;
      case "STRING" -> DataType.STRING;
      case "TIME" -> DataType.TIME;
      case "TIMESTAMP(3)" -> DataType.timestamp(3);
      case "TIMESTAMP(6)" -> DataType.timestamp(6);
      case "BINARY" -> DataType.BINARY;
      default -> DataType.decimal(3, 1);
    };
  }

  private static byte[] bytes(String hex) {
    byte[] bytes = new byte[hex.length() / 2];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) Integer.parseInt(hex.substring(2 * i, 2 * i + 2), 16);
    }
    return bytes;
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"int\" | INT | 0200 | malformed | 1",
        "\"string\" | STRING | 02ff | malformed | \uFFFD",
        "\"int\" | TINYINT | 8002 | malformed | -128",
        "{\"type\":\"int\",\"logicalType\":\"time-millis\"} | TIME | 01 | malformed | -1",
        "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":3,\"scale\":1} |"
            + " DECIMAL(3, 1) | 0403e8 | malformed | NULL",
        "{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":3,\"scale\":2} |"
            + " DECIMAL(3, 1) | 0264 | refused | 10.0",
        "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"} | TIMESTAMP(6) | 02 |"
            + " 1970-01-01T00:00:00.000001 | 1970-01-01T00:00:00.001",
        "{\"type\":\"long\",\"logicalType\":\"timestamp-micros\"} | TIMESTAMP(3) | d00f |"
            + " 1970-01-01T00:00:00.001 | 1970-01-01T00:00:01",
        "{\"type\":\"enum\",\"name\":\"e\",\"symbols\":[\"A\"]} | STRING | 00 | A | malformed",
        "{\"type\":\"fixed\",\"name\":\"x\",\"size\":1} | BINARY | 61 | a | malformed"
      })
  void eachIsAsListed(String writer, String column, String hex, String millrace, String flink)
      throws Exception {
    Schema columns = Schema.of(Field.of("v", type(column)));
    String text = RECORD.formatted(writer);
    AvroType schema = WriterSchemas.parse(text);
    byte[] record = bytes(hex);
    if (AvroReader.unsupported(columns, schema).isPresent()) {
      assertThat(millrace).isEqualTo("refused");
    } else {
      assertThat(
              text(
                  MillraceRecords.read(
                          (stream, memory) -> new AvroReader(columns, schema, stream, memory),
                          List.of(record),
                          device)
                      .get(0)))
          .isEqualTo(millrace);
    }
    FlinkAvro format = new FlinkAvro(columns, new org.apache.avro.Schema.Parser().parse(text));
    assertThat(text(format.read(record))).isEqualTo(flink);
  }

  private static String text(RecordResult result) {
    Object value = result.rows().isEmpty() ? null : result.rows().get(0).get(0);
    return value instanceof ByteBuffer bytes
        ? StandardCharsets.ISO_8859_1.decode(bytes).toString()
        : result.text();
  }
}
