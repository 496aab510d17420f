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
import io.millrace.connectors.files.TextFileSource;
import io.millrace.connectors.files.TextLineOptions;
import io.millrace.connectors.files.sink.FileSinks;
import io.millrace.connectors.formats.CsvOptions;
import io.millrace.connectors.records.CsvRecordFormat;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Files of CSV as batches: headers that differ between files, records of several lines. */
@ExtendWith(NothingHeldExtension.class)
class CsvDecodingTest {
  private static final Schema SCHEMA =
      Schema.of(new Field("id", DataType.INT64, false), Field.of("name", DataType.STRING));
  private static final TextLineOptions LINES =
      TextLineOptions.DEFAULT
          .withHeader(true)
          .withQuotedLineFeeds(';')
          .withMaximumLineBytes(1 << 10);
  private static final CsvOptions OPTIONS = CsvOptions.DEFAULT.withHeader(true).withDelimiter(';');

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @TempDir Path folder;

  private void write(String name, String text) throws IOException {
    Files.writeString(Files.createDirectories(folder.resolve("in")).resolve(name), text);
  }

  private SingleOutputStreamOperator<ColumnBatch> batches(
      StreamExecutionEnvironment environment, MalformedLinePolicy policy) throws IOException {
    TextFileSource files =
        TextFileSource.of(List.of(folder.resolve("in").toString())).withLines(LINES);
    DataStream<TextBlock> blocks =
        environment.fromSource(
            files.create(new TextBlockFormat(LINES)), WatermarkStrategy.noWatermarks(), "lines");
    return TextDecodingOperator.decode(
        blocks, new CsvRecordFormat(SCHEMA, OPTIONS), LINES, policy, 100, Optional.empty());
  }

  @OutOfMemoryTest(onCluster = true)
  void fieldsAreThoseThatTheHeaderOfTheirFileNames() throws Exception {
    StringBuilder first = new StringBuilder("id;name\r\n");
    StringBuilder second = new StringBuilder("\ufeffnote;\"name\";;id;note\n");
    List<List<Object>> expected = new ArrayList<>();
    for (long id = 0; id < 200; id++) {
      first.append(id).append(";\"a \"\"name\"\";\nof ").append(id).append("\"\r\n");
      expected.add(List.of(id, "a \"name\";\nof " + id));
      second.append("\"x\n\";;y;").append(1000 + id).append(";z\n");
      expected.add(Arrays.asList(1000 + id, null));
    }
    write("a.csv", first.toString());
    write("b.csv", second.toString());
    write("empty.csv", "");
    StreamExecutionEnvironment environment = flink.environment(1);
    BatchCollector collector = new BatchCollector();
    collector.collect(batches(environment, MalformedLinePolicy.FAIL));
    flink.run(environment);
    assertThat(collector.rows()).containsExactlyInAnyOrderElementsOf(expected);
  }

  @Test
  void malformedRecordsHaveTheirPositionAndReason() throws Exception {
    write("a.csv", "id;name\n1;a\nx;\"b\nc\"\r\n2;d;e\n3;\n" + "4;" + "f".repeat(2000) + "\n5;g\n");
    StreamExecutionEnvironment environment = flink.environment(1);
    SingleOutputStreamOperator<ColumnBatch> batches =
        batches(environment, MalformedLinePolicy.SIDE_OUTPUT);
    BatchCollector collector = new BatchCollector();
    collector.collect(batches);
    FileSinks.malformedLines(
        batches.getSideOutput(LineParsingFunction.MALFORMED_LINES),
        new org.apache.flink.core.fs.Path(folder.resolve("bad").toUri()));
    flink.run(environment);
    assertThat(collector.rows())
        .containsExactly(List.of(1L, "a"), Arrays.asList(3L, null), List.of(5L, "g"));
    assertThat(OutputFolder.sortedLines(folder.resolve("bad")))
        .satisfiesExactly(
            line ->
                assertThat(line)
                    .contains("\"offset\":12,\"reason\":\"column 'id': expected BIGINT")
                    .endsWith("\"text\":\"x;\\\"b\\nc\\\"\"}"),
            line ->
                assertThat(line)
                    .contains("\"offset\":21,\"reason\":\"3 fields, but there are 2 columns\""),
            line ->
                assertThat(line)
                    .contains("\"offset\":30,\"reason\":\"the line is longer than the 1024 bytes"));
  }

  @Test
  void aHeaderMustNameEachColumn() throws Exception {
    write("a.csv", "id;nam\n1;a\n");
    StreamExecutionEnvironment environment = flink.environment(1);
    new BatchCollector().collect(batches(environment, MalformedLinePolicy.SIDE_OUTPUT));
    assertThatThrownBy(() -> flink.run(environment))
        .hasMessageContaining("a.csv: the header has no column 'name'; its columns are [id, nam]");
  }
}
