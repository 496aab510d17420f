// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.ipc.ArrowIpcStreamReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.files.FailOnce;
import io.millrace.connectors.files.OutputFolder;
import io.millrace.connectors.files.SlowDown;
import io.millrace.connectors.formats.ArrowStreamEncoder;
import io.millrace.connectors.formats.CsvEncoder;
import io.millrace.connectors.formats.CsvOptions;
import io.millrace.connectors.formats.JsonLinesEncoder;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.TableSourceOperator;
import io.millrace.testing.DeviceExtension;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Files that are joined while jobs run, fail and are resumed: each row once, in fewer files. */
@ExtendWith(NothingHeldExtension.class)
class FileCompactionJobTest {
  private static final int ROWS = 200;
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("name", DataType.STRING));
  private static final String HEADER = "id,name";
  private static final FileSinkOptions JOINED =
      FileSinkOptions.DEFAULT.withCompaction(
          FileCompaction.ofFileBytes(1 << 20).withCheckpoints(4));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @TempDir Path folder;

  private org.apache.flink.core.fs.Path flinkPath(String name) {
    return new org.apache.flink.core.fs.Path(folder.resolve(name).toUri());
  }

  private static DataStream<ColumnBatch> batches(DataStream<Long> ids) {
    return TableSourceOperator.batches(ids, SCHEMA, id -> List.of(List.of(id, "name " + id)));
  }

  private static DataStream<Long> ids(StreamExecutionEnvironment environment) {
    return environment.fromSequence(0, ROWS - 1).uid("ids");
  }

  private static List<String> allLines() {
    return LongStream.range(0, ROWS).mapToObj(id -> id + ",name " + id).sorted().toList();
  }

  private List<String> csvLines(String name) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Path file : OutputFolder.files(folder.resolve(name))) {
      List<String> ofFile = Files.readAllLines(file);
      assertThat(ofFile.get(0)).isEqualTo(HEADER);
      lines.addAll(ofFile.subList(1, ofFile.size()));
    }
    return lines.stream().sorted().toList();
  }

  private List<String> arrowLines(String name) throws IOException {
    List<String> lines = new ArrayList<>();
    for (Path file : OutputFolder.files(folder.resolve(name))) {
      try (ArrowIpcStreamReader reader =
          new ArrowIpcStreamReader(
              FileChannel.open(file), device.hostStream(), device.hostMemory())) {
        for (Optional<Table> next = reader.read(); next.isPresent(); next = reader.read()) {
          try (Table table = next.get()) {
            device.rows(table).forEach(row -> lines.add(row.get(0) + "," + row.get(1)));
          }
        }
      }
    }
    return lines.stream().sorted().toList();
  }

  private static CsvEncoder csv() {
    return new CsvEncoder(CsvOptions.DEFAULT.withHeader(true));
  }

  private void assertJoined(String name) throws IOException {
    assertThat(OutputFolder.files(folder.resolve(name)))
        .allMatch(file -> file.getFileName().toString().startsWith("compacted-part-"));
  }

  @Test
  void failuresLoseAndDoubleNothingAndThereAreFewerFiles() throws Exception {
    StreamExecutionEnvironment environment = FailOnce.restartingEnvironment(flink);
    List<FailOnce<Long>> failures = List.of(new FailOnce<>(), new FailOnce<>(), new FailOnce<>());
    DataStream<Long> ids = ids(environment);
    for (FailOnce<Long> failure : failures) {
      ids = ids.map(failure).returns(Long.class);
    }
    DataStream<ColumnBatch> batches = batches(ids.map(new SlowDown<>()).returns(Long.class));
    FileSinks.write(batches, SCHEMA, csv(), flinkPath("plain"));
    FileSinks.write(batches, SCHEMA, csv(), flinkPath("csv"), JOINED).uid("csv");
    FileSinks.write(batches, SCHEMA, new JsonLinesEncoder(), flinkPath("json"), JOINED).uid("json");
    FileSinks.write(batches, SCHEMA, new ArrowStreamEncoder(), flinkPath("arrow"), JOINED)
        .uid("arrow");
    flink.run(environment);

    assertThat(failures).allMatch(FailOnce::hasFailed);
    int plain = OutputFolder.files(folder.resolve("plain")).size();
    for (String name : List.of("csv", "json", "arrow")) {
      assertJoined(name);
      assertThat(OutputFolder.files(folder.resolve(name)).size()).isLessThan(plain / 2);
    }
    assertThat(csvLines("plain")).isEqualTo(allLines());
    assertThat(csvLines("csv")).isEqualTo(allLines());
    assertThat(arrowLines("arrow")).isEqualTo(allLines());
    assertThat(OutputFolder.sortedLines(folder.resolve("json")))
        .isEqualTo(
            LongStream.range(0, ROWS)
                .mapToObj(id -> "{\"id\":" + id + ",\"name\":\"name " + id + "\"}")
                .sorted()
                .toList());
  }

  /** Writes the first of the files that it is to join, and then fails, twice. */
  private static final class FailingCompactor extends EncodedFileCompactor {
    private static final long serialVersionUID = 1L;
    private static final AtomicInteger FAILURES_LEFT = new AtomicInteger();

    FailingCompactor() {
      super(".txt", file -> new FileBodyReader(file, new byte[0], new byte[0]));
    }

    @Override
    protected void join(List<org.apache.flink.core.fs.Path> files, Writer<byte[]> joined)
        throws Exception {
      if (FAILURES_LEFT.getAndDecrement() > 0) {
        super.join(files.subList(0, 1), joined);
        throw new IOException("failing in the middle");
      }
      super.join(files, joined);
    }
  }

  @Test
  void aCompactionThatFailsInTheMiddleBeginsAgain() throws Exception {
    FailingCompactor.FAILURES_LEFT.set(2);
    StreamExecutionEnvironment environment = FailOnce.restartingEnvironment(flink);
    ids(environment)
        .map(new SlowDown<>())
        .returns(Long.class)
        .map(id -> (id + "\n").getBytes(StandardCharsets.UTF_8))
        .returns(byte[].class)
        .sinkTo(
            EncodedFileSink.create(
                flinkPath("out"),
                ".txt",
                new EncodedFileSink.WriterFactory(new byte[0], new byte[0]),
                new FailingCompactor(),
                JOINED))
        .uid("sink");
    flink.run(environment);
    assertThat(FailingCompactor.FAILURES_LEFT.get()).isLessThan(0);
    assertThat(OutputFolder.sortedLines(folder.resolve("out")))
        .isEqualTo(LongStream.range(0, ROWS).mapToObj(Long::toString).sorted().toList());
    assertJoined("out");
  }

  /** Runs a job until it has written a part of its rows, and stops it with a savepoint. */
  private String stop() throws Exception {
    StreamExecutionEnvironment environment = FailOnce.restartingEnvironment(flink);
    SlowDown<Long> slow = new SlowDown<>();
    DataStream<ColumnBatch> batches = batches(ids(environment).map(slow).returns(Long.class));
    // Files wait for each other longer than the job runs.
    FileSinkOptions options =
        FileSinkOptions.DEFAULT.withCompaction(
            FileCompaction.ofFileBytes(1 << 20).withCheckpoints(10_000));
    FileSinks.write(batches, SCHEMA, csv(), flinkPath("csv"), options).uid("csv");
    FileSinks.write(batches, SCHEMA, new ArrowStreamEncoder(), flinkPath("arrow"), options)
        .uid("arrow");
    FlinkJob job = flink.submit(environment);
    job.awaitRunning();
    slow.awaitElements(100);
    String savepoint = job.stopWithSavepoint(folder.resolve("savepoints"));
    assertThat(OutputFolder.files(folder.resolve("csv"))).isEmpty();
    return savepoint;
  }

  private void resume(String savepoint, FileCompaction compaction) throws Exception {
    Configuration restore = new Configuration();
    restore.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    StreamExecutionEnvironment environment = flink.environment(3, restore);
    environment.enableCheckpointing(50);
    DataStream<ColumnBatch> batches =
        batches(ids(environment).map(new SlowDown<>()).returns(Long.class));
    FileSinkOptions options = FileSinkOptions.DEFAULT.withCompaction(compaction);
    FileSinks.write(batches, SCHEMA, csv(), flinkPath("csv"), options).uid("csv");
    FileSinks.write(batches, SCHEMA, new ArrowStreamEncoder(), flinkPath("arrow"), options)
        .uid("arrow");
    flink.run(environment);
    assertThat(csvLines("csv")).isEqualTo(allLines());
    assertThat(arrowLines("arrow")).isEqualTo(allLines());
  }

  @Test
  void filesThatWaitInASavepointAreJoinedByTheJobThatIsResumed() throws Exception {
    resume(stop(), FileCompaction.ofFileBytes(1 << 20));
    assertJoined("csv");
  }

  @Test
  void filesThatWaitInASavepointAppearWhenCompactionIsStopped() throws Exception {
    resume(stop(), FileCompaction.STOPPED);
    assertThat(OutputFolder.files(folder.resolve("csv")))
        .anyMatch(file -> file.getFileName().toString().startsWith("part-"));
  }

  @Test
  void withoutCheckpointsTheEndOfTheInputJoinsFiles() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    FileSinkOptions plain =
        FileSinkOptions.DEFAULT.withRolling(FileRollingPolicy.ON_CHECKPOINT.withMaxBytes(100));
    FileSinkOptions joined = plain.withCompaction(JOINED.compaction());
    DataStream<ColumnBatch> batches = batches(ids(environment));
    FileSinks.write(batches, SCHEMA, csv(), flinkPath("plain"), plain);
    FileSinks.write(batches, SCHEMA, csv(), flinkPath("csv"), joined).uid("csv");
    flink.run(environment);
    assertThat(OutputFolder.files(folder.resolve("plain")).size()).isGreaterThan(10);
    assertThat(OutputFolder.files(folder.resolve("csv"))).hasSize(1);
    assertThat(csvLines("csv")).isEqualTo(allLines()).isEqualTo(csvLines("plain"));
  }

  @Test
  void filesAreJoinedUpToTheirSize() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    FileSinkOptions options =
        FileSinkOptions.DEFAULT
            .withRolling(FileRollingPolicy.ON_CHECKPOINT.withMaxBytes(100))
            .withCompaction(FileCompaction.ofFileBytes(1000));
    FileSinks.write(batches(ids(environment)), SCHEMA, csv(), flinkPath("csv"), options).uid("csv");
    flink.run(environment);
    List<Path> files = OutputFolder.files(folder.resolve("csv"));
    assertThat(files.size()).isBetween(3, 6);
    for (Path file : files) {
      assertThat(Files.size(file)).isLessThan(1200);
    }
    assertThat(csvLines("csv")).isEqualTo(allLines());
  }

  @Test
  void foldersWhoseFilesCannotBeJoinedAreRefused() {
    StreamExecutionEnvironment environment = flink.environment(1);
    DataStream<ColumnBatch> batches = batches(ids(environment));
    assertThatThrownBy(() -> FileSinks.write(batches, SCHEMA, csv(), flinkPath("a b"), JOINED))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a b': URIs escape a character of its name");
  }

  @Test
  void filesAreClosedThatNothingIsWrittenTo() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    FileSinkOptions options =
        FileSinkOptions.DEFAULT.withRolling(
            FileRollingPolicy.ON_CHECKPOINT.withMaxIdleTime(Duration.ofMillis(1)));
    DataStream<ColumnBatch> batches =
        batches(ids(environment).map(new SlowDown<>()).returns(Long.class).disableChaining());
    FileSinks.write(batches, SCHEMA, csv(), flinkPath("csv"), options);
    flink.run(environment);
    assertThat(OutputFolder.files(folder.resolve("csv")).size()).isGreaterThan(3);
    assertThat(csvLines("csv")).isEqualTo(allLines());
  }

  @Test
  void filesAreClosedWhenTheyAreOld() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    FileSinkOptions options =
        FileSinkOptions.DEFAULT.withRolling(
            FileRollingPolicy.ON_CHECKPOINT.withMaxAge(Duration.ofMillis(20)));
    DataStream<ColumnBatch> batches =
        batches(ids(environment).map(new SlowDown<>()).returns(Long.class));
    FileSinks.write(batches, SCHEMA, csv(), flinkPath("csv"), options);
    FileSinks.write(batches, SCHEMA, csv(), flinkPath("plain"));
    flink.run(environment);
    assertThat(OutputFolder.files(folder.resolve("plain"))).hasSize(1);
    assertThat(OutputFolder.files(folder.resolve("csv")).size()).isGreaterThan(3);
    assertThat(csvLines("csv")).isEqualTo(allLines());
  }
}
