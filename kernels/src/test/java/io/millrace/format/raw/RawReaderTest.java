// SPDX-License-Identifier: Apache-2.0
package io.millrace.format.raw;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.format.MalformedRecord;
import io.millrace.format.ParsedRecords;
import io.millrace.format.RecordBytes;
import io.millrace.format.RecordLines;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RowCountTest;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RawReaderTest {
  private static final Schema TEXT = Schema.of(new Field("v", DataType.STRING, false));
  private static final Schema BYTES = Schema.of(Field.of("v", DataType.BINARY));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private ParsedRecords read(Schema schema, byte[] text) {
    return read(schema, true, text);
  }

  private ParsedRecords read(Schema schema, boolean areLines, byte[] text) {
    try (RecordBytes records = RecordLines.of(text, device);
        RawReader reader = new RawReader(schema, areLines, device.stream(), device.memory())) {
      return reader.read(records);
    }
  }

  @Test
  void eachRecordIsAValueWithoutItsLineEnd() {
    byte[] text = "a,\"\n\n\r\n é\r\r\n\t\r".getBytes(StandardCharsets.UTF_8);
    try (ParsedRecords parsed = read(TEXT, text)) {
      assertThat(parsed.malformed()).isEmpty();
      assertThat(device.rows(parsed.table()))
          .containsExactly(
              List.of("a,\""), List.of(""), List.of(""), List.of(" é\r"), List.of("\t"));
    }
  }

  @Test
  void eachByteOfAMessageBelongsToItsValue() {
    byte[] text = "a\r\n\n\r\nb\r".getBytes(StandardCharsets.UTF_8);
    try (ParsedRecords strings = read(TEXT, false, text);
        ParsedRecords bytes = read(BYTES, false, text)) {
      assertThat(device.rows(strings.table()))
          .containsExactly(List.of("a\r\n"), List.of("\n"), List.of("\r\n"), List.of("b\r"));
      assertThat(device.rows(bytes.table()).get(0).get(0))
          .isEqualTo(ByteBuffer.wrap(new byte[] {'a', '\r', '\n'}));
    }
  }

  @Test
  void aStringMustBeUtf8ButBytesNeedNot() {
    byte[] text = "123456789é\nabc\n".getBytes(StandardCharsets.ISO_8859_1);
    try (ParsedRecords strings = read(TEXT, text);
        ParsedRecords bytes = read(BYTES, text)) {
      assertThat(strings.malformed())
          .containsExactly(new MalformedRecord(0, 0, 11, 9, "invalid UTF-8"));
      assertThat(device.rows(strings.table())).containsExactly(List.of("abc"));
      assertThat(bytes.malformed()).isEmpty();
      assertThat(device.rows(bytes.table()).get(0).get(0))
          .isEqualTo(ByteBuffer.wrap("123456789é".getBytes(StandardCharsets.ISO_8859_1)));
    }
  }

  @RowCountTest
  void stringsAreThoseThatJavaDecodes(int rowCount) {
    Random numbers = random.random();
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    List<List<Object>> expected = new ArrayList<>();
    for (int i = 0; i < rowCount; i++) {
      byte[] line = line(numbers);
      text.writeBytes(line);
      text.write('\n');
      decode(line).ifPresent(value -> expected.add(List.of(value)));
    }
    try (ParsedRecords parsed = read(TEXT, text.toByteArray())) {
      assertThat(device.rows(parsed.table())).isEqualTo(expected);
      assertThat(parsed.malformed()).hasSize(rowCount - expected.size());
    }
  }

  private static byte[] line(Random numbers) {
    StringBuilder text = new StringBuilder();
    for (int i = numbers.nextInt(40); i > 0; i--) {
      int bits = 7 + numbers.nextInt(12);
      int codePoint = 0x20 + numbers.nextInt(1 << bits);
      text.appendCodePoint(Character.getType(codePoint) == Character.SURROGATE ? 'x' : codePoint);
    }
    byte[] line = text.toString().getBytes(StandardCharsets.UTF_8);
    if (line.length > 0 && numbers.nextInt(3) == 0) {
      line[numbers.nextInt(line.length)] = (byte) (0x80 | numbers.nextInt(0x80));
    }
    return line;
  }

  private static Optional<String> decode(byte[] line) {
    try {
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(line)).toString());
    } catch (CharacterCodingException e) {
      return Optional.empty();
    }
  }

  @Test
  void oneColumnOfStringsOrBytesIsRead() {
    Schema two = Schema.of(Field.of("a", DataType.STRING), Field.of("b", DataType.STRING));
    assertThat(RawReader.unsupported(two)).isPresent();
    Schema number = Schema.of(Field.of("a", DataType.INT32));
    assertThatThrownBy(() -> new RawReader(number, true, device.stream(), device.memory()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith(
            "records cannot be read as they are: expected one column of STRING or BINARY, got");
  }

  @Test
  void structuresAreThoseOfTheKernels() {
    assertThat(RawFormat.Layout.LAYOUT.fields())
        .isEqualTo(CudaStructures.ofSources().layout("RawPlan").fields());
  }
}
