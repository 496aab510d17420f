// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.block;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.connectors.files.TextLine;
import io.millrace.connectors.files.TextLineFixture;
import io.millrace.connectors.files.TextLineOptions;
import io.millrace.testing.RandomExtension;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
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
import org.junit.jupiter.params.provider.ValueSource;

/** Blocks have the lines that the reader of single lines reads, however a file is split. */
class TextBlockReaderTest {
  private static final Configuration CONFIGURATION = new Configuration();

  @RegisterExtension final RandomExtension random = new RandomExtension();

  private static final int LONGEST_RECORD = 30;
  private static final List<String> PIECES =
      List.of("\"", "\"\"", ";", "a", "bcd", "\n", "\r", "\r\n");

  @TempDir Path folder;

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

  /** A file with a byte order mark, and lines some of which are longer than {@code longest}. */
  private byte[] randomFile(int longest) {
    Random numbers = random.random();
    StringBuilder text = new StringBuilder(numbers.nextBoolean() ? "\ufeff" : "");
    for (int i = 0; i < 300; i++) {
      int length = numbers.nextInt(10) == 0 ? numbers.nextInt(3 * longest) : numbers.nextInt(9);
      text.append("x".repeat(length)).append(numbers.nextInt(5) == 0 ? "\r\n" : "\n");
    }
    return text.append(numbers.nextBoolean() ? "end" : "")
        .toString()
        .getBytes(StandardCharsets.UTF_8);
  }

  private static List<TextLine> lines(TextBlock block) throws IOException {
    if (block.truncated()) {
      return List.of(new TextLine(block.path(), block.offset(), block.bytes(), true));
    }
    List<TextLine> lines = new ArrayList<>();
    for (TextLine line : TextLineFixture.read(block.bytes(), TextLineOptions.DEFAULT)) {
      lines.add(new TextLine(block.path(), block.offset() + line.offset(), line.bytes(), false));
    }
    return lines;
  }

  // Reads up to so many blocks of random size, and gives the position behind the last.
  private CheckpointedPosition drain(
      BulkFormat.Reader<TextBlock> reader, int blocks, List<TextLine> lines) throws IOException {
    CheckpointedPosition position = null;
    for (int i = 0; i < blocks; i++) {
      BulkFormat.RecordIterator<TextBlock> batch = reader.readBatch();
      if (batch == null) {
        return position;
      }
      RecordAndPosition<TextBlock> record = batch.next();
      lines.addAll(lines(record.getRecord()));
      record.getRecord().limit().set(random.random().nextInt(500));
      if (random.random().nextBoolean()) {
        record.getRecord().release();
      }
      position = new CheckpointedPosition(record.getOffset(), record.getRecordSkipCount());
      assertThat(batch.next()).isNull();
    }
    return position;
  }

  private List<TextLine> expected(Path path, byte[] file, int longest) throws IOException {
    String name = new org.apache.flink.core.fs.Path(path.toUri()).toString();
    List<TextLine> lines = new ArrayList<>();
    TextLineOptions options = TextLineOptions.DEFAULT.withMaximumLineBytes(longest);
    for (TextLine line : TextLineFixture.read(file, options)) {
      long start = line.offset() == 0 && file[0] == (byte) 0xef ? 3 : line.offset();
      lines.add(new TextLine(name, start, line.bytes(), line.truncated()));
    }
    return lines;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 100, 1 << 20})
  void splitsHaveEachLineOnce(int longest) throws IOException {
    TextBlockFormat format =
        new TextBlockFormat(TextLineOptions.DEFAULT.withMaximumLineBytes(longest));
    byte[] file = randomFile(Math.min(longest, 200));
    Path path = Files.write(folder.resolve("splits"), file);
    List<TextLine> expected = expected(path, file, longest);
    for (int repetition = 0; repetition < 30; repetition++) {
      int bound = 1 + random.random().nextInt(file.length - 1);
      List<TextLine> lines = new ArrayList<>();
      for (FileSourceSplit split :
          List.of(split(path, 0, bound, null), split(path, bound, file.length - bound, null))) {
        try (BulkFormat.Reader<TextBlock> reader = format.createReader(CONFIGURATION, split)) {
          drain(reader, Integer.MAX_VALUE, lines);
        }
      }
      assertThat(lines).isEqualTo(expected);
    }
  }

  @Test
  void readersOfASubtaskEndTogether() throws IOException {
    TextBlockFormat format = new TextBlockFormat(TextLineOptions.DEFAULT);
    byte[] file = "a\n".repeat(100_000).getBytes(StandardCharsets.UTF_8);
    Path path = Files.write(folder.resolve("lines"), file);
    FileSourceSplit split = split(path, 0, file.length, null);
    try (BulkFormat.Reader<TextBlock> reader = format.createReader(CONFIGURATION, split)) {
      reader.readBatch().next().getRecord().limit().end();
      assertThat(reader.readBatch()).isNull();
    }
    Files.delete(path);
    try (BulkFormat.Reader<TextBlock> reader = format.createReader(CONFIGURATION, split)) {
      assertThat(reader.readBatch()).isNull();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5})
  void aSplitMayEndInTheByteOrderMark(int bound) throws IOException {
    TextBlockFormat format = new TextBlockFormat(TextLineOptions.DEFAULT.withMaximumLineBytes(100));
    byte[] file = "\ufeffab\ncd\n".getBytes(StandardCharsets.UTF_8);
    Path path = Files.write(folder.resolve("mark"), file);
    List<TextLine> lines = new ArrayList<>();
    for (FileSourceSplit split :
        List.of(split(path, 0, bound, null), split(path, bound, file.length - bound, null))) {
      try (BulkFormat.Reader<TextBlock> reader = format.createReader(CONFIGURATION, split)) {
        drain(reader, Integer.MAX_VALUE, lines);
      }
    }
    assertThat(lines).isEqualTo(expected(path, file, 100));
  }

  @ParameterizedTest
  @ValueSource(strings = {"restored", "restored.gz"})
  void aRestoredReaderGoesOnWithTheNextLine(String name) throws IOException {
    TextBlockFormat format = new TextBlockFormat(TextLineOptions.DEFAULT.withMaximumLineBytes(100));
    byte[] file = randomFile(100);
    Path path = folder.resolve(name);
    try (OutputStream out = Files.newOutputStream(path);
        OutputStream bytes = name.endsWith(".gz") ? new GZIPOutputStream(out) : out) {
      bytes.write(file);
    }
    List<TextLine> expected = expected(path, file, 100);
    for (int blocks = 0; blocks < 20; blocks++) {
      List<TextLine> lines = new ArrayList<>();
      FileSourceSplit split = split(path, 0, Files.size(path), null);
      CheckpointedPosition position;
      try (BulkFormat.Reader<TextBlock> reader = format.createReader(CONFIGURATION, split)) {
        position = drain(reader, blocks, lines);
      }
      FileSourceSplit restored = split(path, 0, Files.size(path), position);
      try (BulkFormat.Reader<TextBlock> reader = format.restoreReader(CONFIGURATION, restored)) {
        drain(reader, Integer.MAX_VALUE, lines);
      }
      assertThat(lines).isEqualTo(expected);
    }
  }

  /** Fields with quotes, delimiters and line feeds anywhere; some records are too long. */
  private byte[] randomCsv(int records) {
    Random numbers = random.random();
    StringBuilder text = new StringBuilder("name;\"a \"\"b\"\"\nc\"\r\n");
    for (int i = 0; i < records; i++) {
      for (int piece = numbers.nextInt(12); piece > 0; piece--) {
        text.append(PIECES.get(numbers.nextInt(PIECES.size())));
      }
      text.append('\n');
    }
    return text.toString().getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void recordsMayHaveLineFeedsInQuotes() throws IOException {
    TextLineOptions options =
        TextLineOptions.DEFAULT
            .withQuotedLineFeeds(';')
            .withHeader(true)
            .withMaximumLineBytes(LONGEST_RECORD);
    TextBlockFormat format = new TextBlockFormat(options);
    for (int repetition = 0; repetition < 100; repetition++) {
      byte[] file = randomCsv(random.random().nextInt(100));
      Path path = Files.write(folder.resolve("quoted"), file);
      FileSourceSplit split = split(path, 0, file.length, null);
      List<TextBlock> blocks = new ArrayList<>();
      try (BulkFormat.Reader<TextBlock> reader = format.createReader(CONFIGURATION, split)) {
        for (BulkFormat.RecordIterator<TextBlock> batch = reader.readBatch();
            batch != null;
            batch = reader.readBatch()) {
          blocks.add(batch.next().getRecord());
          blocks.get(0).limit().set(1 + random.random().nextInt(200));
        }
      }
      List<String> records = new ArrayList<>();
      for (TextBlock block : blocks) {
        assertThat(new String(block.header(), StandardCharsets.UTF_8))
            .isEqualTo("name;\"a \"\"b\"\"\nc\"");
        records.addAll(quotedRecords(block, options));
      }
      List<String> expected = new ArrayList<>();
      for (TextLine line : TextLineFixture.read(file, options)) {
        expected.add(line.offset() + ":" + line.truncated() + ":" + text(line.bytes()));
      }
      assertThat(records).isEqualTo(expected);
    }
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }

  private static List<String> quotedRecords(TextBlock block, TextLineOptions options)
      throws IOException {
    if (block.truncated()) {
      return List.of(block.offset() + ":true:" + text(block.bytes()));
    }
    List<String> records = new ArrayList<>();
    for (TextLine line : TextLineFixture.read(block.bytes(), options.withHeader(false))) {
      records.add(block.offset() + line.offset() + ":false:" + text(line.bytes()));
    }
    return records;
  }

  @Test
  void blocksAreAsLargeAsTheOperatorBehindAsksFor() throws IOException {
    byte[] file = "0123456\n".repeat(100_000).getBytes(StandardCharsets.UTF_8);
    Path path = Files.write(folder.resolve("sizes"), file);
    FileSourceSplit split = split(path, 0, file.length, null);
    try (BulkFormat.Reader<TextBlock> reader =
        new TextBlockFormat(TextLineOptions.DEFAULT).createReader(CONFIGURATION, split)) {
      TextBlock first = reader.readBatch().next().getRecord();
      assertThat(first.bytes()).hasSize(64 << 10);
      first.limit().set(100_001);
      assertThat(reader.readBatch().next().getRecord().bytes()).hasSize(100_008);
      first.limit().set(Long.MAX_VALUE);
      assertThat(reader.readBatch().next().getRecord().bytes())
          .hasSize(file.length - (64 << 10) - 100_008);
      assertThat(reader.readBatch()).isNull();
    }
  }

  @Test
  void blocksAreReadIntoArraysOfReleasedBlocks() throws IOException {
    byte[] file = "0123456\n".repeat(100_000).getBytes(StandardCharsets.UTF_8);
    Path path = Files.write(folder.resolve("arrays"), file);
    FileSourceSplit split = split(path, 0, file.length, null);
    TextBlockFormat format = new TextBlockFormat(TextLineOptions.DEFAULT);
    Set<byte[]> arrays = Collections.newSetFromMap(new IdentityHashMap<>());
    for (int i = 0; i < 10; i++) {
      try (BulkFormat.Reader<TextBlock> reader = format.createReader(CONFIGURATION, split)) {
        for (BulkFormat.RecordIterator<TextBlock> batch = reader.readBatch();
            batch != null;
            batch = reader.readBatch()) {
          TextBlock block = batch.next().getRecord();
          arrays.add(block.array());
          block.release();
        }
      }
    }
    assertThat(arrays).hasSize(2);
  }
}
