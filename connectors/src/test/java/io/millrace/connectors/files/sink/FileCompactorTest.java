// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.ipc.ArrowIpcStreamReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.formats.ArrowStreamEncoder;
import io.millrace.connectors.formats.CsvEncoder;
import io.millrace.connectors.formats.CsvOptions;
import io.millrace.connectors.formats.FileEncoder;
import io.millrace.connectors.formats.JsonLinesEncoder;
import io.millrace.memory.AccessScope;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Files that are joined to one, byte by byte. */
class FileCompactorTest {
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("name", DataType.STRING));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @TempDir Path folder;

  private static org.apache.flink.core.fs.Path flinkPath(Path file) {
    return new org.apache.flink.core.fs.Path(file.toUri());
  }

  private static List<org.apache.flink.core.fs.Path> flinkPaths(List<Path> files) {
    return files.stream().map(FileCompactorTest::flinkPath).toList();
  }

  private static EncodedFileCompactor compactor(FileEncoder encoder, Schema schema) {
    byte[] start = encoder.fileStart(schema);
    byte[] end = encoder.fileEnd();
    return new EncodedFileCompactor(
        encoder.fileSuffix(), file -> new FileBodyReader(file, start, end));
  }

  private Path join(FileEncoder encoder, Schema schema, List<Path> files) throws Exception {
    Path joined = folder.resolve("joined" + encoder.fileSuffix());
    try (FSDataOutputStream out =
        flinkPath(joined).getFileSystem().create(flinkPath(joined), WriteMode.OVERWRITE)) {
      BulkWriter<byte[]> writer =
          new EncodedFileSink.WriterFactory(encoder.fileStart(schema), encoder.fileEnd())
              .create(out);
      compactor(encoder, schema).compact(flinkPaths(files), writer::addElement);
      writer.finish();
    }
    return joined;
  }

  private List<Path> write(String suffix, List<String> contents) throws Exception {
    List<Path> files = new ArrayList<>();
    for (String content : contents) {
      files.add(Files.writeString(folder.resolve("part-" + files.size() + suffix), content));
    }
    return files;
  }

  private String joinTexts(FileEncoder encoder, String... contents) throws Exception {
    return Files.readString(join(encoder, SCHEMA, write(encoder.fileSuffix(), List.of(contents))));
  }

  @Test
  void linesFollowEachOther() throws Exception {
    JsonLinesEncoder encoder = new JsonLinesEncoder();
    assertThat(joinTexts(encoder, "")).isEmpty();
    assertThat(joinTexts(encoder, "{\"id\":1}\n")).isEqualTo("{\"id\":1}\n");
    assertThat(joinTexts(encoder, "{\"id\":1}\n", "", "{\"id\":2}\n{\"id\":3}\n"))
        .isEqualTo("{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n");
  }

  @Test
  void theHeaderOfCsvComesOnce() throws Exception {
    CsvEncoder encoder = new CsvEncoder(CsvOptions.DEFAULT.withHeader(true));
    assertThat(joinTexts(encoder, "id,name\n")).isEqualTo("id,name\n");
    assertThat(joinTexts(encoder, "id,name\n1,\"id,name\n\"\n"))
        .isEqualTo("id,name\n1,\"id,name\n\"\n");
    assertThat(joinTexts(encoder, "id,name\n", "id,name\n1,a\n", "id,name\n2,b\n3,c\n"))
        .isEqualTo("id,name\n1,a\n2,b\n3,c\n");
    assertThat(joinTexts(new CsvEncoder(CsvOptions.DEFAULT), "1,a\n", "2,b\n"))
        .isEqualTo("1,a\n2,b\n");
  }

  @Test
  void manyLargeFilesAreJoined() throws Exception {
    CsvEncoder encoder = new CsvEncoder(CsvOptions.DEFAULT.withHeader(true));
    List<String> contents = new ArrayList<>();
    StringBuilder expected = new StringBuilder("id,name\n");
    for (int i = 0; i < 20; i++) {
      String body = (i + ",name\n").repeat(100_000 * (i % 3));
      contents.add("id,name\n" + body);
      expected.append(body);
    }
    assertThat(Files.readString(join(encoder, SCHEMA, write(".csv", contents))))
        .isEqualTo(expected.toString());
  }

  @Test
  void arrowStreamsAreOneStreamWithTheDictionariesOfEach() throws Exception {
    Schema schema =
        Schema.of(
            new Field("id", DataType.INT64, false),
            Field.of("name", DataType.dictionary(DataType.STRING)));
    ArrowStreamEncoder encoder = new ArrowStreamEncoder();
    List<Path> files = new ArrayList<>();
    List<List<Object>> expected = new ArrayList<>();
    for (int file = 0; file < 3; file++) {
      List<List<Object>> rows = new ArrayList<>();
      for (int i = 0; i < file * 3; i++) {
        rows.add(Arrays.asList((long) i, i % 2 == 0 ? "name " + file : null));
      }
      expected.addAll(rows);
      files.add(arrowFile(schema, encoder, file, rows));
    }
    assertThat(readArrow(join(encoder, schema, files))).isEqualTo(expected);
  }

  private Path arrowFile(
      Schema schema, ArrowStreamEncoder encoder, int number, List<List<Object>> rows)
      throws Exception {
    Path file = folder.resolve(number + ".arrows");
    Files.write(file, encoder.fileStart(schema));
    if (!rows.isEmpty()) {
      try (Table table = TableBuilder.ofRows(schema, rows).build(device);
          Table host = device.copyToHost(table);
          AccessScope scope = AccessScope.on(device.hostStream())) {
        Files.write(file, encoder.encode(host, scope), StandardOpenOption.APPEND);
      }
    }
    return Files.write(file, encoder.fileEnd(), StandardOpenOption.APPEND);
  }

  private List<List<Object>> readArrow(Path file) throws Exception {
    List<List<Object>> rows = new ArrayList<>();
    try (ArrowIpcStreamReader reader =
        new ArrowIpcStreamReader(
            FileChannel.open(file), device.hostStream(), device.hostMemory())) {
      for (Optional<Table> next = reader.read(); next.isPresent(); next = reader.read()) {
        try (Table table = next.get()) {
          rows.addAll(device.rows(table));
        }
      }
    }
    return rows;
  }

  @Test
  void filesOfOtherSettingsAreRefused() throws Exception {
    CsvEncoder encoder = new CsvEncoder(CsvOptions.DEFAULT.withHeader(true));
    assertThatThrownBy(() -> joinTexts(encoder, "id,name\n1,a\n", "id,text\n2,b\n"))
        .hasMessageContaining("part-1.csv: it does not start with the header or schema")
        .hasMessageContaining("sink.auto-compaction: false");
    assertThatThrownBy(() -> joinTexts(encoder, "id"))
        .hasMessageContaining("part-0.csv: it does not start with");
    List<Path> json = write(".jsonl", List.of("{\"id\":1}\n"));
    assertThatThrownBy(() -> join(new CsvEncoder(CsvOptions.DEFAULT), SCHEMA, json))
        .hasMessageContaining("part-0.jsonl: expected a file of the suffix .csv");
    Path cut =
        Files.write(folder.resolve("cut.arrows"), new ArrowStreamEncoder().fileStart(SCHEMA));
    Files.write(cut, new byte[8], StandardOpenOption.APPEND);
    assertThatThrownBy(() -> join(new ArrowStreamEncoder(), SCHEMA, List.of(cut)))
        .hasMessageContaining("cut.arrows is corrupt: it has another end than the job writes");
  }

  @Test
  void numbersLessThanOneAreRefused() {
    assertThatThrownBy(() -> FileCompaction.ofFileBytes(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected at least 1 byte, got 0");
    assertThatThrownBy(() -> FileCompaction.ofFileBytes(1).withCheckpoints(0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected at least 1 checkpoint, got 0");
    assertThatThrownBy(() -> FileCompaction.STOPPED.withCheckpoints(2))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void anInterruptAndAnErrorEndIt() throws Exception {
    List<Path> files = write(".jsonl", List.of("{\"id\":1}\n", "{\"id\":2}\n"));
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> join(new JsonLinesEncoder(), SCHEMA, files))
        .isInstanceOf(InterruptedIOException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThatThrownBy(
            () ->
                compactor(new JsonLinesEncoder(), SCHEMA)
                    .compact(
                        flinkPaths(files),
                        element -> {
                          throw new OutOfMemoryError("Java heap space");
                        }))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith("cannot join the files [")
        .hasRootCauseMessage("Java heap space");
  }
}
