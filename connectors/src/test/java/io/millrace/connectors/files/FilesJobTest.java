// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.ipc.ArrowIpcStreamReader;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.connectors.files.arrow.ArrowFileSource;
import io.millrace.connectors.files.sink.EncodedFileSink;
import io.millrace.connectors.files.sink.FileSinks;
import io.millrace.connectors.formats.ArrowStreamEncoder;
import io.millrace.connectors.formats.JsonLineParser;
import io.millrace.connectors.formats.JsonLinesEncoder;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
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
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Sources and sinks in jobs: each line and row once, over failures and savepoints. */
@ExtendWith(NothingHeldExtension.class)
class FilesJobTest {
  private static final int FILES = 3;
  private static final int LINES_PER_FILE = 1500;
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("name", DataType.STRING));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @TempDir Path folder;

  private Path input() throws IOException {
    Path input = Files.createDirectories(folder.resolve("in"));
    for (int file = 0; file < FILES; file++) {
      List<String> lines = new ArrayList<>();
      for (int i = 0; i < LINES_PER_FILE; i++) {
        int id = file * LINES_PER_FILE + i;
        lines.add("{\"id\":" + id + ",\"name\":\"name " + id + "\"}");
      }
      Files.write(input.resolve(file + ".jsonl"), lines);
    }
    return input;
  }

  private static List<String> allIds() {
    return IntStream.range(0, FILES * LINES_PER_FILE).mapToObj(Integer::toString).sorted().toList();
  }

  private static SingleOutputStreamOperator<RowData> rows(
      StreamExecutionEnvironment environment, Path input, MalformedLinePolicy policy)
      throws IOException {
    DataStream<TextLine> lines =
        environment
            .fromSource(
                TextFileSource.of(List.of(input.toString())).create(),
                WatermarkStrategy.noWatermarks(),
                "lines")
            .uid("lines");
    return LineParsingFunction.parse(lines, new JsonLineParser(SCHEMA), policy);
  }

  private void writeIds(DataStream<RowData> rows, Path output) {
    rows.map(row -> (row.getLong(0) + "\n").getBytes(StandardCharsets.UTF_8))
        .returns(byte[].class)
        .sinkTo(EncodedFileSink.create(new org.apache.flink.core.fs.Path(output.toUri()), ".txt"))
        .uid("sink");
  }

  @Test
  void aFailureBetweenCheckpointsLosesAndDoublesNothing() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    environment.enableCheckpointing(50);
    Configuration restart = new Configuration();
    restart.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restart.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
    environment.configure(restart);
    FailOnce<RowData> failure = new FailOnce<>();
    SingleOutputStreamOperator<RowData> rows = rows(environment, input(), MalformedLinePolicy.FAIL);
    writeIds(rows.map(failure).returns(rows.getType()), folder.resolve("out"));
    flink.run(environment);
    assertThat(failure.hasFailed()).isTrue();
    assertThat(OutputFolder.sortedLines(folder.resolve("out"))).isEqualTo(allIds());
  }

  @Test
  void aJobResumesFromASavepointAtAnotherParallelism() throws Exception {
    Path input = input();
    Path output = folder.resolve("out");
    StreamExecutionEnvironment first = flink.environment(2);
    SlowDown<RowData> slow = new SlowDown<>();
    SingleOutputStreamOperator<RowData> rows = rows(first, input, MalformedLinePolicy.FAIL);
    writeIds(rows.map(slow).returns(rows.getType()), output);
    FlinkJob job = flink.submit(first);
    job.awaitRunning();
    slow.awaitElements(50);
    String savepoint = job.stopWithSavepoint(folder.resolve("savepoints"));
    assertThat(OutputFolder.sortedLines(output)).isNotEmpty().hasSizeLessThan(allIds().size());

    Configuration restore = new Configuration();
    restore.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    StreamExecutionEnvironment second = flink.environment(3, restore);
    writeIds(rows(second, input, MalformedLinePolicy.FAIL), output);
    flink.run(second);
    assertThat(OutputFolder.sortedLines(output)).isEqualTo(allIds());
  }

  @Test
  void malformedLinesGoToFilesWithPositionAndReason() throws Exception {
    Path input = Files.createDirectories(folder.resolve("in"));
    Path file = input.resolve("a.jsonl");
    Files.writeString(file, "{\"id\":1}\nno \"json\"\n{\"id\":\"x\"}\n\n{\"id\":2}\n{\"id\":3");
    StreamExecutionEnvironment environment = flink.environment(1);
    SingleOutputStreamOperator<RowData> rows =
        rows(environment, input, MalformedLinePolicy.SIDE_OUTPUT);
    writeIds(rows, folder.resolve("out"));
    FileSinks.malformedLines(
        rows.getSideOutput(LineParsingFunction.MALFORMED_LINES),
        new org.apache.flink.core.fs.Path(folder.resolve("bad").toUri()));
    flink.run(environment);
    assertThat(OutputFolder.sortedLines(folder.resolve("out"))).containsExactly("1", "2");
    String start = "{\"path\":\"file:" + file + "\",\"offset\":";
    assertThat(OutputFolder.sortedLines(folder.resolve("bad")))
        .satisfiesExactly(
            line ->
                assertThat(line)
                    .startsWith(start + "19,\"reason\":\"column 'id':")
                    .endsWith(",\"text\":\"{\\\"id\\\":\\\"x\\\"}\"}"),
            line ->
                assertThat(line)
                    .startsWith(
                        start
                            + "40,\"reason\":\"no JSON: Unexpected end-of-input: expected close marker for Object at")
                    .endsWith(",\"text\":\"{\\\"id\\\":3\"}"),
            line ->
                assertThat(line)
                    .startsWith(start + "9,\"reason\":\"no JSON:")
                    .endsWith(",\"text\":\"no \\\"json\\\"\"}"));
  }

  @Test
  void underFailTheJobSaysWhichLineItWas() throws Exception {
    Path input = Files.createDirectories(folder.resolve("in"));
    Files.writeString(input.resolve("a.jsonl"), "{\"id\":1}\n{\"id\":\"x\"}\n");
    StreamExecutionEnvironment environment = flink.environment(1);
    writeIds(rows(environment, input, MalformedLinePolicy.FAIL), folder.resolve("out"));
    assertThatThrownBy(() -> flink.run(environment))
        .hasMessageContaining(
            "a.jsonl:9: column 'id': expected BIGINT, got the JSON string \"x\": {\"id\":\"x\"}");
  }

  @OutOfMemoryTest(onCluster = true)
  void batchesBecomeJsonLinesAndArrowStreams() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(2);
    DataStream<ColumnBatch> batches =
        TableSourceOperator.batches(
            environment.fromSequence(0, 19), SCHEMA, FilesJobTest::batchRows);
    FileSinks.write(batches, SCHEMA, new JsonLinesEncoder(), flinkPath("json"));
    FileSinks.write(batches, SCHEMA, new ArrowStreamEncoder(), flinkPath("arrow"));
    FileSinks.write(
        batches.rebalance(), SCHEMA, new JsonLinesEncoder(), flinkPath("json-rebalanced"));
    flink.run(environment);

    List<List<Object>> expected =
        LongStream.range(0, 20).boxed().flatMap(i -> batchRows(i).stream()).toList();
    List<String> expectedLines =
        expected.stream()
            .map(row -> "{\"id\":" + row.get(0) + ",\"name\":\"" + row.get(1) + "\"}")
            .sorted()
            .toList();
    assertThat(OutputFolder.sortedLines(folder.resolve("json"))).isEqualTo(expectedLines);
    assertThat(OutputFolder.sortedLines(folder.resolve("json-rebalanced")))
        .isEqualTo(expectedLines);
    assertThat(readArrow(folder.resolve("arrow"))).containsExactlyInAnyOrderElementsOf(expected);
  }

  @OutOfMemoryTest(onCluster = true)
  void arrowFilesAreReadAsBatches() throws Exception {
    StreamExecutionEnvironment writing = flink.environment(2);
    FileSinks.write(
        TableSourceOperator.batches(writing.fromSequence(0, 19), SCHEMA, FilesJobTest::batchRows),
        SCHEMA,
        new ArrowStreamEncoder(),
        flinkPath("arrow"));
    flink.run(writing);

    List<Path> files = OutputFolder.files(folder.resolve("arrow"));
    assertThat(ArrowFileSource.readSchema(new org.apache.flink.core.fs.Path(files.get(0).toUri())))
        .isEqualTo(SCHEMA);
    StreamExecutionEnvironment reading = flink.environment(2);
    BatchCollector collector = new BatchCollector();
    collector.collect(
        ArrowFileSource.batches(reading, List.of(folder.resolve("arrow").toString()), SCHEMA));
    flink.run(reading);
    assertThat(collector.rows())
        .containsExactlyInAnyOrderElementsOf(
            LongStream.range(0, 20).boxed().flatMap(i -> batchRows(i).stream()).toList());

    StreamExecutionEnvironment other = flink.environment(1);
    Schema otherSchema = Schema.of(Field.of("id", DataType.INT64));
    new BatchCollector()
        .collect(ArrowFileSource.batches(other, List.of(files.get(0).toString()), otherSchema));
    assertThatThrownBy(() -> flink.run(other))
        .hasMessageContaining("has the columns " + SCHEMA + ", not " + otherSchema);
  }

  private org.apache.flink.core.fs.Path flinkPath(String name) {
    return new org.apache.flink.core.fs.Path(folder.resolve(name).toUri());
  }

  private static List<List<Object>> batchRows(long number) {
    return LongStream.range(number * 10, number * 10 + number % 4)
        .mapToObj(id -> List.<Object>of(id, "name " + id))
        .toList();
  }

  private List<List<Object>> readArrow(Path output) throws IOException {
    List<List<Object>> rows = new ArrayList<>();
    for (Path file : OutputFolder.files(output)) {
      try (ArrowIpcStreamReader reader =
          new ArrowIpcStreamReader(
              FileChannel.open(file), device.hostStream(), device.hostMemory())) {
        for (Optional<Table> next = reader.read(); next.isPresent(); next = reader.read()) {
          try (Table table = next.get()) {
            rows.addAll(device.rows(table));
          }
        }
      }
    }
    return rows;
  }
}
