// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.files.LineParsingFunction;
import io.millrace.connectors.files.MalformedLinePolicy;
import io.millrace.connectors.files.OutputFolder;
import io.millrace.connectors.files.SlowDown;
import io.millrace.connectors.files.TextFileSource;
import io.millrace.connectors.files.TextLine;
import io.millrace.connectors.files.TextLineOptions;
import io.millrace.connectors.files.sink.EncodedFileSink;
import io.millrace.connectors.files.sink.FileSinks;
import io.millrace.connectors.formats.JsonLineParser;
import io.millrace.connectors.records.EventTimeWatermarks;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.RowCollector;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.ProcessFunction;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of JSON lines in jobs: each line is a row of a batch, or a malformed line. */
@ExtendWith(NothingHeldExtension.class)
class JsonDecodingTest {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of("name", DataType.STRING),
          Field.of("place", DataType.struct(Field.of("x", DataType.FLOAT64))));
  private static final int LONGEST_LINE = 200;
  private static final int MAX_ROWS = 100;

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @TempDir Path folder;

  private Path input(String... lines) throws IOException {
    Path input = Files.createDirectories(folder.resolve("in"));
    Files.write(input.resolve("a.jsonl"), List.of(lines));
    return input;
  }

  private static SingleOutputStreamOperator<ColumnBatch> batches(
      StreamExecutionEnvironment environment, Path input, MalformedLinePolicy policy)
      throws IOException {
    TextFileSource files =
        TextFileSource.of(List.of(input.toString()))
            .withLines(TextLineOptions.DEFAULT.withMaximumLineBytes(LONGEST_LINE));
    DataStream<TextBlock> blocks =
        environment
            .fromSource(
                files.create(new TextBlockFormat(files.lines())),
                WatermarkStrategy.noWatermarks(),
                "lines")
            .uid("lines");
    return TextDecodingOperator.decode(
        blocks, new JsonRecordFormat(SCHEMA), files.lines(), policy, MAX_ROWS, Optional.empty());
  }

  @OutOfMemoryTest(onCluster = true)
  void rowsAreThoseOfTheLines() throws Exception {
    List<String> lines = new ArrayList<>();
    List<List<Object>> expected = new ArrayList<>();
    for (long id = 0; id < 200; id++) {
      lines.add("{\"id\":" + id + ",\"name\":\"n\\u00e4me " + id + "\",\"place\":{\"x\":0.5}}");
      expected.add(List.of(id, "näme " + id, List.of(0.5)));
    }
    lines.add("{\"id\":200}");
    expected.add(Arrays.asList(200L, null, null));
    // Decided by the digits behind the first 19.
    lines.add("{\"id\":201,\"place\":{\"x\":9007199254740993.00000000000000001}}");
    expected.add(Arrays.asList(201L, null, List.of(9007199254740994.0)));
    lines.add("malformed");
    StreamExecutionEnvironment environment = flink.environment(2);
    BatchCollector collector = new BatchCollector();
    collector.collect(
        batches(environment, input(lines.toArray(String[]::new)), MalformedLinePolicy.SIDE_OUTPUT));
    flink.run(environment);
    assertThat(collector.rows()).containsExactlyInAnyOrderElementsOf(expected);
    assertThat(collector.batches())
        .allSatisfy(b -> assertThat(b.rows()).hasSizeLessThanOrEqualTo(MAX_ROWS));
  }

  @Test
  void malformedLinesHaveTheirPositionAndReason() throws Exception {
    String longLine = "{\"id\":4,\"name\":\"" + "x".repeat(LONGEST_LINE) + "\"}";
    Path input = input("{\"id\":1}", "no json", "{\"id\":\"x\"}\r", "", longLine, "{\"id\":5}");
    StreamExecutionEnvironment environment = flink.environment(1);
    SingleOutputStreamOperator<ColumnBatch> batches =
        batches(environment, input, MalformedLinePolicy.SIDE_OUTPUT);
    BatchCollector collector = new BatchCollector();
    collector.collect(batches);
    FileSinks.malformedLines(
        batches.getSideOutput(LineParsingFunction.MALFORMED_LINES),
        new org.apache.flink.core.fs.Path(folder.resolve("bad").toUri()));
    flink.run(environment);
    assertThat(collector.rows())
        .containsExactly(Arrays.asList(1L, null, null), Arrays.asList(5L, null, null));
    String start = "{\"path\":\"file:" + input.resolve("a.jsonl") + "\",\"offset\":";
    assertThat(OutputFolder.sortedLines(folder.resolve("bad")))
        .satisfiesExactly(
            line ->
                assertThat(line)
                    .startsWith(start + "17,\"reason\":\"column 'id': expected BIGINT")
                    .endsWith(",\"text\":\"{\\\"id\\\":\\\"x\\\"}\"}"),
            line ->
                assertThat(line)
                    .startsWith(
                        start + "30,\"reason\":\"the line is longer than the 200 bytes allowed"),
            line -> assertThat(line).startsWith(start + "9,\"reason\":\"no JSON:"));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aSavepointOfLinesResumesInBlocksAndTheReverse(boolean fromBlocks) throws Exception {
    Path input = Files.createDirectories(folder.resolve("in"));
    List<String> ids = new ArrayList<>();
    for (int file = 0; file < 3; file++) {
      List<String> lines = new ArrayList<>();
      for (int i = 0; i < 3000; i++) {
        ids.add("" + (3000 * file + i));
        lines.add("{\"id\":" + (3000 * file + i) + ",\"name\":\"" + "x".repeat(50) + "\"}");
      }
      Files.write(input.resolve(file + ".jsonl"), lines);
    }
    Collections.sort(ids);
    Path output = folder.resolve("out");
    StreamExecutionEnvironment first = flink.environment(2);
    SlowDown<RowData> slow = new SlowDown<>();
    DataStream<RowData> rows = rows(first, input, fromBlocks);
    writeIds(rows.map(slow).returns(rows.getType()), output);
    FlinkJob job = flink.submit(first);
    job.awaitRunning();
    slow.awaitElements(50);
    String savepoint = job.stopWithSavepoint(folder.resolve("savepoints"));
    assertThat(OutputFolder.sortedLines(output)).isNotEmpty().hasSizeLessThan(ids.size());

    Configuration restore = new Configuration();
    restore.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    StreamExecutionEnvironment second = flink.environment(3, restore);
    writeIds(rows(second, input, !fromBlocks), output);
    flink.run(second);
    assertThat(OutputFolder.sortedLines(output)).isEqualTo(ids);
  }

  private static DataStream<RowData> rows(
      StreamExecutionEnvironment environment, Path input, boolean inBlocks) throws IOException {
    if (inBlocks) {
      SingleOutputStreamOperator<ColumnBatch> batches =
          batches(environment, input, MalformedLinePolicy.FAIL);
      return ColumnStream.fromBatches(batches).toRowData();
    }
    DataStream<TextLine> lines =
        environment
            .fromSource(
                TextFileSource.of(List.of(input.toString())).create(),
                WatermarkStrategy.noWatermarks(),
                "lines")
            .uid("lines");
    return LineParsingFunction.parse(lines, new JsonLineParser(SCHEMA), MalformedLinePolicy.FAIL);
  }

  private static void writeIds(DataStream<RowData> rows, Path output) {
    rows.map(row -> (row.getLong(0) + "\n").getBytes(StandardCharsets.UTF_8))
        .returns(byte[].class)
        .sinkTo(EncodedFileSink.create(new org.apache.flink.core.fs.Path(output.toUri()), ".txt"))
        .uid("sink");
  }

  @Test
  void watermarksAreBehindTheRows() throws Exception {
    List<String> lines = new ArrayList<>();
    for (int id = 0; id < 500; id++) {
      lines.add("{\"id\":" + id + "}");
    }
    StreamExecutionEnvironment environment = flink.environment(1);
    environment.getConfig().setAutoWatermarkInterval(0);
    TextFileSource files =
        TextFileSource.of(List.of(input(lines.toArray(String[]::new)).toString()));
    DataStream<TextBlock> blocks =
        environment.fromSource(
            files.create(new TextBlockFormat(files.lines())),
            WatermarkStrategy.noWatermarks(),
            "lines");
    SingleOutputStreamOperator<ColumnBatch> batches =
        TextDecodingOperator.decode(
            blocks,
            new JsonRecordFormat(SCHEMA),
            files.lines(),
            MalformedLinePolicy.FAIL,
            MAX_ROWS,
            Optional.of(EventTimeWatermarks.of("id").withDelay(Duration.ofMillis(5))));
    RowCollector<List<Long>> collector = new RowCollector<>();
    collector.collect(
        ColumnStream.fromBatches(batches).toRowData("id").process(new WatermarkReader()),
        times -> times);
    flink.run(environment);
    assertThat(collector.rows()).hasSize(500);
    assertThat(collector.rows()).allMatch(times -> times.get(0) > times.get(1));
    // The rows of one batch at most lie between a row and the watermark before it.
    assertThat(collector.rows())
        .filteredOn(times -> times.get(0) >= MAX_ROWS)
        .allMatch(times -> times.get(0) - times.get(1) <= MAX_ROWS + 6);
  }

  /** The time of each row, and the watermark before it. */
  private static final class WatermarkReader extends ProcessFunction<RowData, List<Long>> {
    private static final long serialVersionUID = 1L;

    @Override
    public void processElement(RowData row, Context context, Collector<List<Long>> out) {
      out.collect(List.of(row.getLong(0), context.timerService().currentWatermark()));
    }
  }

  @Test
  void underFailTheJobSaysWhichLineItWas() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    new BatchCollector()
        .collect(
            batches(environment, input("{\"id\":1}", "{\"id\":\"x\"}"), MalformedLinePolicy.FAIL));
    assertThatThrownBy(() -> flink.run(environment))
        .hasMessageContaining(
            "a.jsonl:9: column 'id': expected BIGINT, got the JSON string \"x\": {\"id\":\"x\"}");
  }
}
