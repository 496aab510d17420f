package io.millrace.connectors.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.testing.RandomExtension;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.zip.GZIPOutputStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.connector.file.src.util.RecordAndPosition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Lines and their positions, however a file is split and wherever its reader is restored. */
class TextLineReaderTest {
  private static final Configuration CONFIGURATION = new Configuration();

  @RegisterExtension final RandomExtension random = new RandomExtension();

  @TempDir Path folder;

  @Test
  void lineEndsAndPositions() throws IOException {
    assertThat(read("\ufeffa\r\nbä\n\n\rc\nlast"))
        .containsExactly(
            "memory:0: a", "memory:6: bä", "memory:10: ", "memory:11: \rc", "memory:14: last");
    assertThat(read("a\n")).containsExactly("memory:0: a");
    assertThat(read("\n")).containsExactly("memory:0: ");
    assertThat(read("\ufeff")).isEmpty();
    assertThat(read("")).isEmpty();
  }

  private static List<String> read(String text) throws IOException {
    byte[] file = text.getBytes(StandardCharsets.UTF_8);
    return TextLineFixture.read(file, LineFraming.LINE_FEED, 100).stream()
        .map(TextLine::toString)
        .toList();
  }

  @Test
  void quotedLineFeedsEndNoLine() throws IOException {
    byte[] file = "a,\"x\ny\"\nb,\"\"\"\n\"\n".getBytes(StandardCharsets.UTF_8);
    assertThat(TextLineFixture.read(file, LineFraming.QUOTED_LINE_FEED, 100))
        .extracting(TextLine::text)
        .containsExactly("a,\"x\ny\"", "b,\"\"\"\n\"");
  }

  @Test
  void longLinesAreTruncatedAndTheNextOneIsWhole() throws IOException {
    byte[] file = "12345\n123456\n12\n".getBytes(StandardCharsets.UTF_8);
    List<TextLine> lines = TextLineFixture.read(file, LineFraming.LINE_FEED, 5);
    assertThat(lines).extracting(TextLine::text).containsExactly("12345", "12345", "12");
    assertThat(lines).extracting(TextLine::truncated).containsExactly(false, true, false);
    assertThat(lines).extracting(TextLine::offset).containsExactly(0L, 6L, 13L);
  }

  @Test
  void anOpenQuoteTakesNoMoreThanTheLongestLine() throws IOException {
    byte[] file = "\"open\nb\nc\nd\n\"e\"\n".getBytes(StandardCharsets.UTF_8);
    List<TextLine> lines = TextLineFixture.read(file, LineFraming.QUOTED_LINE_FEED, 8);
    assertThat(lines).extracting(TextLine::truncated).containsExactly(true, false, false);
    assertThat(lines).extracting(TextLine::text).containsExactly("\"open\nb\n", "d", "\"e\"");
  }

  @Test
  void linesLongerThanTheBuffer() throws IOException {
    String text = "x".repeat(1 << 20) + "\n" + "y".repeat(300_000) + "\nz";
    assertThat(TextLineFixture.lines(text.getBytes(StandardCharsets.UTF_8), LineFraming.LINE_FEED))
        .extracting(bytes -> bytes.length)
        .containsExactly(1 << 20, 300_000, 1);
  }

  @Test
  void splitsReadEachLineOnce() throws IOException {
    byte[] file = randomFile(200);
    List<TextLine> whole = readSplits(file, 0, file.length);
    for (int repetition = 0; repetition < 50; repetition++) {
      int first = random.random().nextInt(file.length - 1);
      int second = first + 1 + repetition % (file.length - first - 1);
      assertThat(readSplits(file, 0, first, second, file.length)).isEqualTo(whole);
    }
  }

  private List<TextLine> readSplits(byte[] file, int... bounds) throws IOException {
    Path path = Files.write(folder.resolve("splits"), file);
    List<TextLine> lines = new ArrayList<>();
    for (int i = 0; i + 1 < bounds.length; i++) {
      FileSourceSplit split = split(path, bounds[i], bounds[i + 1] - bounds[i], null);
      TextLineFormat format = new TextLineFormat(LineFraming.LINE_FEED, 1000);
      try (BulkFormat.Reader<TextLine> reader = format.createReader(CONFIGURATION, split)) {
        drain(reader, Integer.MAX_VALUE, lines);
      }
    }
    return lines;
  }

  @ParameterizedTest
  @EnumSource
  void aRestoredReaderGoesOnWithTheNextLine(LineFraming framing) throws IOException {
    Path path = Files.write(folder.resolve("restored"), randomFile(500));
    assertRestores(path, framing);
  }

  @Test
  void aRestoredReaderSkipsInACompressedFile() throws IOException {
    Path path = folder.resolve("restored.gz");
    try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(path))) {
      out.write(randomFile(500));
    }
    assertRestores(path, LineFraming.LINE_FEED);
  }

  private void assertRestores(Path path, LineFraming framing) throws IOException {
    TextLineFormat format = new TextLineFormat(framing, 1000);
    List<TextLine> whole = new ArrayList<>();
    FileSourceSplit split = split(path, 0, Files.size(path), null);
    try (BulkFormat.Reader<TextLine> reader = format.createReader(CONFIGURATION, split)) {
      drain(reader, Integer.MAX_VALUE, whole);
    }
    assertThat(whole).hasSizeGreaterThan(100);
    for (int before = 0; before <= whole.size(); before += 37) {
      List<TextLine> lines = new ArrayList<>();
      CheckpointedPosition position;
      try (BulkFormat.Reader<TextLine> reader = format.createReader(CONFIGURATION, split)) {
        position = drain(reader, before, lines);
      }
      FileSourceSplit restored = split(path, 0, Files.size(path), position);
      try (BulkFormat.Reader<TextLine> reader = format.restoreReader(CONFIGURATION, restored)) {
        drain(reader, Integer.MAX_VALUE, lines);
      }
      assertThat(lines).isEqualTo(whole);
    }
  }

  private static FileSourceSplit split(
      Path path, long offset, long length, CheckpointedPosition position) throws IOException {
    return new FileSourceSplit(
        "split",
        new org.apache.flink.core.fs.Path(path.toUri()),
        offset,
        length,
        0,
        Files.size(path),
        new String[0],
        position);
  }

  // Reads up to so many lines and gives the position behind the last.
  private static CheckpointedPosition drain(
      BulkFormat.Reader<TextLine> reader, int maximum, List<TextLine> lines) throws IOException {
    CheckpointedPosition position = null;
    BulkFormat.RecordIterator<TextLine> batch = reader.readBatch();
    while (batch != null) {
      for (RecordAndPosition<TextLine> record = batch.next();
          record != null;
          record = batch.next()) {
        if (lines.size() == maximum) {
          return position;
        }
        lines.add(record.getRecord());
        position = new CheckpointedPosition(record.getOffset(), record.getRecordSkipCount());
      }
      batch = reader.readBatch();
    }
    return position;
  }

  private byte[] randomFile(int lines) {
    Random generator = random.random();
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < lines; i++) {
      text.append(generator.nextBoolean() ? "\"" + i + "\"" : "ä".repeat(generator.nextInt(4)));
      text.append(generator.nextInt(5) == 0 ? "\r\n" : "\n");
    }
    return text.append("end").toString().getBytes(StandardCharsets.UTF_8);
  }
}
