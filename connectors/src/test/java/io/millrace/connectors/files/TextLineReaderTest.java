// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.testing.RandomExtension;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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
import org.junit.jupiter.params.provider.MethodSource;

/** Lines and their positions, however a file is split and wherever its reader is restored. */
class TextLineReaderTest {
  private static final Configuration CONFIGURATION = new Configuration();
  private static final TextLineOptions LINES = TextLineOptions.DEFAULT.withMaximumLineBytes(1000);

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
    return TextLineFixture.read(file, LINES).stream().map(TextLine::toString).toList();
  }

  @Test
  void quotedLineFeedsEndNoLine() throws IOException {
    byte[] file = "a,\"x\ny\"\nb,\"\"\"\n\"\n".getBytes(StandardCharsets.UTF_8);
    assertThat(TextLineFixture.read(file, LINES.withQuotedLineFeeds(',')))
        .extracting(TextLine::text)
        .containsExactly("a,\"x\ny\"", "b,\"\"\"\n\"");
  }

  @Test
  void aQuoteWithinAFieldOpensNothing() throws IOException {
    byte[] file = "5\" pipe;1\n\"x\"y;\n;\"a;\nb\"\n".getBytes(StandardCharsets.UTF_8);
    assertThat(TextLineFixture.read(file, LINES.withQuotedLineFeeds(';')))
        .extracting(TextLine::text)
        .containsExactly("5\" pipe;1", "\"x\"y;", ";\"a;\nb\"");
  }

  @Test
  void eachLineComesWithItsFilesHeader() throws IOException {
    byte[] file = "\ufeffa,\"b\nc\"\r\n1,2\n3,4\n".getBytes(StandardCharsets.UTF_8);
    List<TextLine> lines =
        TextLineFixture.read(file, LINES.withQuotedLineFeeds(',').withHeader(true));
    assertThat(lines).extracting(TextLine::text).containsExactly("1,2", "3,4");
    assertThat(lines)
        .extracting(line -> new String(line.header(), StandardCharsets.UTF_8))
        .containsOnly("a,\"b\nc\"");
    byte[] headerAlone = "a,b".getBytes(StandardCharsets.UTF_8);
    assertThat(TextLineFixture.read(headerAlone, LINES.withHeader(true))).isEmpty();
    assertThatThrownBy(
            () -> TextLineFixture.read(headerAlone, LINES.withHeader(true).withMaximumLineBytes(2)))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith("memory: the header is longer");
  }

  @Test
  void aFileThatCannotBeReadIsNamed() throws IOException {
    Path whole = folder.resolve("whole.gz");
    try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(whole))) {
      out.write(randomFile(500));
    }
    byte[] bytes = Files.readAllBytes(whole);
    Path cut = Files.write(folder.resolve("cut.gz"), Arrays.copyOf(bytes, bytes.length / 2));
    for (TextLineOptions options : List.of(LINES, LINES.withHeader(true))) {
      FileSourceSplit split = split(cut, 0, Files.size(cut), null);
      TextLineFormat format = new TextLineFormat(options);
      assertThatThrownBy(
              () -> {
                try (BulkFormat.Reader<TextLine> reader =
                    format.createReader(CONFIGURATION, split)) {
                  drain(reader, Integer.MAX_VALUE, new ArrayList<>());
                }
              })
          .isInstanceOf(InputException.class)
          .hasMessageContaining("cut.gz behind byte")
          .hasMessageContaining("Unexpected end of ZLIB");
    }
    Path noZip = Files.write(folder.resolve("no.gz"), new byte[] {1, 2, 3});
    FileSourceSplit split = split(noZip, 0, 3, null);
    assertThatThrownBy(() -> new TextLineFormat(LINES).createReader(CONFIGURATION, split))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("no.gz");
  }

  @Test
  void aLocalFileIsSplitIntoRanges() throws IOException {
    byte[] file = randomFile(200);
    org.apache.flink.core.fs.Path path =
        new org.apache.flink.core.fs.Path(Files.write(folder.resolve("big.csv"), file).toUri());
    Path zipped = folder.resolve("zipped.gz");
    try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(zipped))) {
      out.write(file);
    }
    ByteRangeFileEnumerator enumerator = new ByteRangeFileEnumerator(100);
    List<FileSourceSplit> splits =
        new ArrayList<>(enumerator.enumerateSplits(new org.apache.flink.core.fs.Path[] {path}, 1));
    assertThat(splits).hasSize((file.length + 99) / 100);
    assertThat(splits).extracting(FileSourceSplit::splitId).doesNotHaveDuplicates();
    assertThat(splits.stream().mapToLong(FileSourceSplit::length).sum()).isEqualTo(file.length);
    TextLineFormat format = new TextLineFormat(LINES.withHeader(true));
    List<String> lines = new ArrayList<>();
    for (FileSourceSplit split : splits) {
      List<TextLine> read = new ArrayList<>();
      try (BulkFormat.Reader<TextLine> reader = format.createReader(CONFIGURATION, split)) {
        drain(reader, Integer.MAX_VALUE, read);
      }
      read.forEach(line -> lines.add(line.text()));
    }
    assertThat(lines)
        .isEqualTo(
            TextLineFixture.read(file, LINES.withHeader(true)).stream()
                .map(TextLine::text)
                .toList());
    assertThat(
            enumerator.enumerateSplits(
                new org.apache.flink.core.fs.Path[] {
                  new org.apache.flink.core.fs.Path(zipped.toUri())
                },
                1))
        .hasSize(1);
  }

  @Test
  void longLinesAreTruncatedAndTheNextOneIsWhole() throws IOException {
    byte[] file = "12345\n123456\n12\n".getBytes(StandardCharsets.UTF_8);
    List<TextLine> lines = TextLineFixture.read(file, LINES.withMaximumLineBytes(5));
    assertThat(lines).extracting(TextLine::text).containsExactly("12345", "12345", "12");
    assertThat(lines).extracting(TextLine::truncated).containsExactly(false, true, false);
    assertThat(lines).extracting(TextLine::offset).containsExactly(0L, 6L, 13L);
  }

  @Test
  void anOpenQuoteTakesNoMoreThanTheLongestLine() throws IOException {
    byte[] file = "\"open\nb\nc\nd\n\"e\"\n".getBytes(StandardCharsets.UTF_8);
    List<TextLine> lines =
        TextLineFixture.read(file, LINES.withQuotedLineFeeds(',').withMaximumLineBytes(8));
    assertThat(lines).extracting(TextLine::truncated).containsExactly(true, false, false);
    assertThat(lines).extracting(TextLine::text).containsExactly("\"open\nb\n", "d", "\"e\"");
  }

  @Test
  void linesLongerThanTheBuffer() throws IOException {
    String text = "x".repeat(1 << 20) + "\n" + "y".repeat(300_000) + "\nz";
    assertThat(TextLineFixture.read(text.getBytes(StandardCharsets.UTF_8), TextLineOptions.DEFAULT))
        .extracting(line -> line.bytes().length)
        .containsExactly(1 << 20, 300_000, 1);
  }

  @Test
  void splitsReadEachLineOnce() throws IOException {
    byte[] file = randomFile(200);
    assertSplits(file, LINES);
    assertSplits(file, LINES.withHeader(true));
  }

  private void assertSplits(byte[] file, TextLineOptions options) throws IOException {
    List<TextLine> whole = readSplits(file, options, 0, file.length);
    for (int repetition = 0; repetition < 50; repetition++) {
      int first = random.random().nextInt(file.length - 1);
      int second = first + 1 + repetition % (file.length - first - 1);
      assertThat(readSplits(file, options, 0, first, second, file.length)).isEqualTo(whole);
    }
  }

  private List<TextLine> readSplits(byte[] file, TextLineOptions options, int... bounds)
      throws IOException {
    Path path = Files.write(folder.resolve("splits"), file);
    List<TextLine> lines = new ArrayList<>();
    for (int i = 0; i + 1 < bounds.length; i++) {
      FileSourceSplit split = split(path, bounds[i], bounds[i + 1] - bounds[i], null);
      TextLineFormat format = new TextLineFormat(options);
      try (BulkFormat.Reader<TextLine> reader = format.createReader(CONFIGURATION, split)) {
        drain(reader, Integer.MAX_VALUE, lines);
      }
    }
    return lines;
  }

  static List<TextLineOptions> options() {
    return List.of(LINES, LINES.withHeader(true), LINES.withQuotedLineFeeds(',').withHeader(true));
  }

  @ParameterizedTest
  @MethodSource("options")
  void aRestoredReaderResumesWithTheNextLine(TextLineOptions options) throws IOException {
    Path path = Files.write(folder.resolve("restored"), randomFile(500));
    assertRestores(path, options);
  }

  @Test
  void aRestoredReaderSkipsInACompressedFile() throws IOException {
    Path path = folder.resolve("restored.gz");
    try (GZIPOutputStream out = new GZIPOutputStream(Files.newOutputStream(path))) {
      out.write(randomFile(500));
    }
    assertRestores(path, LINES.withHeader(true));
  }

  private void assertRestores(Path path, TextLineOptions options) throws IOException {
    TextLineFormat format = new TextLineFormat(options);
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
