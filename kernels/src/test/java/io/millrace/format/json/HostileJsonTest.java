// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.json;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.DeviceStream;
import io.millrace.device.HostDevice;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordLines;
import io.millrace.format.RecordReader;
import io.millrace.format.record.ChangeEnvelope;
import io.millrace.memory.Buffer;
import io.millrace.memory.MemoryResource;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableRows;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Records that were damaged at random: what is JSON is decided by Jackson, and the host and the
 * device agree about each row and each fault.
 */
class HostileJsonTest {
  /** The system property with the seconds that damaged records are read for. */
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("id", DataType.INT64),
          Field.of("price", DataType.decimal(12, 3)),
          Field.of("ratio", DataType.FLOAT64),
          Field.of("at", DataType.timestamp(3)),
          Field.of("name", DataType.STRING),
          Field.of("bytes", DataType.BINARY),
          Field.of("ratios", DataType.list(DataType.FLOAT64)),
          Field.of(
              "parts",
              DataType.list(
                  DataType.struct(
                      Field.of("id", DataType.INT32),
                      Field.of("names", DataType.list(DataType.STRING))))),
          Field.of(
              "nested",
              DataType.struct(Field.of("flag", DataType.BOOL), Field.of("text", DataType.STRING))));

  private static final String BYTES = "\"\\{}[]:,0123456789.eE+-tfnu \t\r\u0000\u001f/xXaA";
  private static final int RECORDS = 300;

  private static final JsonMapper JACKSON =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void damagedRecordsAreThoseThatJacksonRefuses() {
    random.fuzz(
        () -> {
          byte[] lines = damagedRecords(random.random());
          try (ParsedRecords parsed = JsonLines.read(SCHEMA, lines, device)) {
            assertAgreesWithJackson(lines, parsed);
            assertAgreesWithHost(
                lines, parsed, (stream, memory) -> new JsonReader(SCHEMA, stream, memory));
          }
        });
  }

  @ParameterizedTest
  @EnumSource
  void damagedChangesAreTheSameOnEachDevice(ChangeEnvelope envelope) {
    List<Field> fields = new ArrayList<>(SCHEMA.fields());
    fields.add(new Field("kind", DataType.INT8, false));
    Schema schema = new Schema(fields);
    BiFunction<DeviceStream, MemoryResource, RecordReader> open =
        (stream, memory) -> new JsonChangeReader(schema, envelope, "", stream, memory);
    random.fuzz(
        () -> {
          byte[] lines =
              damaged(random.random(), text -> putChange(envelope, random.random(), text));
          try (RecordBytes records = RecordLines.of(lines, device);
              RecordReader reader = open.apply(device.stream(), device.memory());
              ParsedRecords parsed = reader.read(records)) {
            assertThat(parsed.table().rowCount()).isPositive();
            assertThat(parsed.malformed()).isNotEmpty();
            assertAgreesWithHost(lines, parsed, open);
          }
        });
  }

  private static void putChange(ChangeEnvelope envelope, Random numbers, StringBuilder text) {
    boolean isCanal = envelope == ChangeEnvelope.CANAL;
    String update = isCanal ? "UPDATE" : "u";
    text.append("{\"").append(envelope.before()).append(isCanal ? "\":[" : "\":");
    RandomJson.record(SCHEMA, numbers, text);
    text.append(isCanal ? "],\"" : ",\"").append(envelope.after());
    text.append(isCanal ? "\":[" : "\":");
    RandomJson.record(SCHEMA, numbers, text);
    text.append(isCanal ? "],\"" : ",\"").append(envelope.operation());
    text.append("\":\"").append(update).append("\"}");
  }

  private static byte[] damagedRecords(Random numbers) {
    return damaged(numbers, text -> RandomJson.record(SCHEMA, numbers, text));
  }

  private static byte[] damaged(Random numbers, Consumer<StringBuilder> records) {
    ByteArrayOutputStream lines = new ByteArrayOutputStream();
    for (int i = 0; i < RECORDS; i++) {
      StringBuilder text = new StringBuilder();
      records.accept(text);
      byte[] record = text.toString().getBytes(StandardCharsets.UTF_8);
      for (int left = numbers.nextInt(4); left > 0; left--) {
        record = damage(record, numbers);
      }
      for (int j = 0; j < record.length; j++) {
        record[j] = record[j] == '\n' ? (byte) ' ' : record[j];
      }
      lines.writeBytes(record);
      lines.write('\n');
    }
    return lines.toByteArray();
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

  private void assertAgreesWithJackson(byte[] lines, ParsedRecords parsed) {
    Map<Integer, MalformedRecord> malformed = new HashMap<>();
    parsed.malformed().forEach(record -> malformed.put(record.record(), record));
    int start = 0;
    for (int i = 0; i < RECORDS; i++) {
      int end = start;
      while (lines[end] != '\n') {
        end++;
      }
      byte[] record = Arrays.copyOfRange(lines, start, end);
      String what = new String(record, StandardCharsets.UTF_8);
      MalformedRecord fault = malformed.get(i);
      if (!isJson(record)) {
        assertThat(fault).as(what).isNotNull();
      } else if (fault != null) {
        assertThat(fault.reason()).as("%s at %d", what, fault.position()).startsWith("column ");
      }
      start = end + 1;
    }
  }

  private static boolean isJson(byte[] record) {
    try {
      // Jackson does not check UTF-8, and guesses another encoding if there are zeros.
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(record)).toString();
      if (text.indexOf(0) >= 0) {
        return false;
      }
      JsonNode tree = JACKSON.readTree(record);
      // A blank record is skipped.
      return tree.isObject() || tree.isMissingNode();
    } catch (CharacterCodingException | JsonProcessingException e) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void assertAgreesWithHost(
      byte[] lines,
      ParsedRecords parsed,
      BiFunction<DeviceStream, MemoryResource, RecordReader> open) {
    try (DeviceStream stream = HostDevice.INSTANCE.createStream();
        Buffer text = Buffer.allocate(lines.length, stream, device.hostMemory())) {
      RecordLines.copy(lines, text, stream);
      try (RecordBytes records = RecordBytes.lines(text, stream, device.hostMemory());
          RecordReader reader = open.apply(stream, device.hostMemory());
          ParsedRecords expected = reader.read(records);
          Table host = device.copyToHost(parsed.table())) {
        assertThat(parsed.malformed()).isEqualTo(expected.malformed());
        assertThat(rows(host)).isEqualTo(rows(expected.table()));
        for (int row = 0; row < host.rowCount(); row++) {
          assertThat(parsed.recordOf(row)).isEqualTo(expected.recordOf(row));
        }
      }
    }
  }

  private List<List<Object>> rows(Table host) {
    return TableRows.ofHost(host, device.hostStream());
  }
}
