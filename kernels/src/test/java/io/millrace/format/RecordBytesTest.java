// SPDX-License-Identifier: Apache-2.0
package io.millrace.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.Column;
import io.millrace.column.DataType;
import io.millrace.memory.Buffer;
import io.millrace.testing.CudaStructures;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RowCountTest;
import io.millrace.testing.TableRows;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RecordBytesTest {
  private static final List<FieldQuotes> QUOTES =
      List.of(FieldQuotes.DEFAULT, new FieldQuotes(',', '"', '\\'));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private List<Object> positions(RecordBytes records) {
    int count = records.count() + 1;
    Buffer positions = records.positions().share();
    try (Column column = new Column(DataType.INT32, count, 0, positions, null, List.of())) {
      return TableRows.of(column, device);
    }
  }

  private static List<Object> expected(byte[] bytes, int from) {
    List<Object> starts = new ArrayList<>(List.of(0));
    for (int i = from; i < bytes.length; i++) {
      if (bytes[i] == '\n' || i + 1 == bytes.length) {
        starts.add(i + 1 - from);
      }
    }
    return starts;
  }

  @RowCountTest
  void linesBeginBehindLineFeeds(int size) {
    Random numbers = random.random();
    byte[] bytes = new byte[size];
    numbers.nextBytes(bytes);
    int spacing = 1 + numbers.nextInt(100);
    for (int i = 0; i < size; i++) {
      if (numbers.nextInt(spacing) == 0) {
        bytes[i] = '\n';
      }
    }
    int from = size == 0 ? 0 : numbers.nextInt(Math.min(size, 9));
    try (Buffer all = RecordLines.buffer(bytes, device);
        Buffer part = all.slice(from, size - from);
        RecordBytes lines = RecordBytes.lines(part, device.stream(), device.memory())) {
      assertThat(positions(lines)).isEqualTo(expected(bytes, from));
    }
  }

  @Test
  void eachByteMayBeALine() {
    byte[] bytes = "\n".repeat(5000).getBytes(StandardCharsets.US_ASCII);
    try (Buffer all = RecordLines.buffer(bytes, device);
        RecordBytes lines = RecordBytes.lines(all, device.stream(), device.memory())) {
      assertThat(lines.count()).isEqualTo(5000);
      assertThat(positions(lines)).isEqualTo(expected(bytes, 0));
    }
  }

  @RowCountTest
  void lineFeedsWithinQuotesEndNoRecord(int size) {
    Random numbers = random.random();
    for (FieldQuotes quotes : QUOTES) {
      // Seldom specials, so that a state lasts for tiles.
      int spacing = 1 << numbers.nextInt(14);
      byte[] bytes = new byte[size];
      numbers.nextBytes(bytes);
      for (int i = 0; i < size; i++) {
        int special = "\n,\"\\\n\n".charAt(numbers.nextInt(6));
        boolean plain = "\n,\"\\".indexOf(bytes[i]) >= 0;
        bytes[i] = (byte) (numbers.nextInt(spacing) == 0 ? special : plain ? 'x' : bytes[i]);
      }
      int from = size == 0 ? 0 : numbers.nextInt(Math.min(size, 9));
      try (Buffer all = RecordLines.buffer(bytes, device);
          Buffer part = all.slice(from, size - from);
          RecordBytes lines =
              RecordBytes.quotedLines(part, quotes, device.stream(), device.memory())) {
        assertThat(positions(lines)).isEqualTo(quotedLines(bytes, from, quotes));
      }
    }
  }

  // By regular expressions: a record is fields, with delimiters between them and a line feed
  // behind.
  private static List<Object> quotedLines(byte[] bytes, int from, FieldQuotes quotes) {
    String text = new String(bytes, from, bytes.length - from, StandardCharsets.ISO_8859_1);
    boolean hasEscapes = quotes.escape() != FieldQuotes.NO_CHARACTER;
    String other = hasEscapes ? "[^\\n\\\\,]|\\\\[^\n]" : "[^\\n,]";
    String within = hasEscapes ? "[^\"\\\\]|\\\\(?s:.)" : "[^\"]";
    // Behind a closed field, a quote cannot follow: it would be the second of two.
    String quoted = "\"(?:" + within + "|\"\")*+(?:\"|\\z)";
    String field = "(?:" + quoted + ")?+(?:" + other + ")*+";
    String lone = hasEscapes ? "\\\\?+" : "";
    Matcher record =
        Pattern.compile(field + "(?:," + field + ")*+" + lone + "(?:\\n|\\z)").matcher(text);
    List<Object> starts = new ArrayList<>(List.of(0));
    for (int at = 0; at < text.length(); at = record.end()) {
      assertThat(record.find(at) && record.start() == at).isTrue();
      starts.add(record.end());
    }
    return starts;
  }

  @Test
  void quotesOpenFieldsOnlyAtTheirStart() {
    String text = "a\"b\nc,\"d\ne\"\"\n\"f\"\n\"g\n\",\nh\\\n\"\\\"\n\"\n\"open\n";
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    try (Buffer all = RecordLines.buffer(bytes, device);
        RecordBytes lines =
            RecordBytes.quotedLines(all, QUOTES.get(1), device.stream(), device.memory())) {
      assertThat(positions(lines)).isEqualTo(List.<Object>of(0, 4, 17, 23, 26, 32, text.length()));
    }
  }

  @Test
  void structuresAreThoseOfTheKernels() {
    assertThat(CudaLineKernels.Arguments.LAYOUT.fields())
        .isEqualTo(CudaStructures.ofSources().layout("LinesArguments").fields());
    if (device.isCuda()) {
      assertThat(device.device().loadModule("lines").constant("sizeof_LinesArguments"))
          .isEqualTo(CudaLineKernels.Arguments.LAYOUT.bytes());
    }
  }
}
