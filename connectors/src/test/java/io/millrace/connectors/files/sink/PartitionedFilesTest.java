// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.files.sink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.files.FailOnce;
import io.millrace.connectors.files.InputFiles;
import io.millrace.connectors.files.MalformedLinePolicy;
import io.millrace.connectors.files.OutputFolder;
import io.millrace.connectors.files.SlowDown;
import io.millrace.connectors.files.TextFileSource;
import io.millrace.connectors.files.TextLineOptions;
import io.millrace.connectors.files.arrow.ArrowFileSource;
import io.millrace.connectors.files.block.TextBlockFormat;
import io.millrace.connectors.files.block.TextDecodingOperator;
import io.millrace.connectors.files.scan.FileScanOptions;
import io.millrace.connectors.files.scan.PartitionColumns;
import io.millrace.connectors.formats.ArrowStreamEncoder;
import io.millrace.connectors.formats.JsonLinesEncoder;
import io.millrace.connectors.parquet.ParquetFileSink;
import io.millrace.connectors.parquet.ParquetFileSource;
import io.millrace.connectors.parquet.ParquetWriterOptions;
import io.millrace.connectors.records.JsonRecordFormat;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.TableSourceOperator;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Rows in the folders of their partitions: each once, with the values that the folders name. */
@ExtendWith(NothingHeldExtension.class)
class PartitionedFilesTest {
  private static final int BATCHES = 4;
  private static final int ROWS = 10;
  // The folders of the rows.
  private static final int PARTITIONS = 7;
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("kind", DataType.STRING),
          Field.of("id", DataType.INT64),
          Field.of("group", DataType.INT32),
          Field.of("text", DataType.STRING));
  private static final Schema FILES = SCHEMA.select(List.of("id", "text"));
  private static final FileSinkOptions SINK =
      FileSinkOptions.DEFAULT.withPartitionKeys(PartitionKeys.of("group", "kind"));
  private static final FileScanOptions SCAN =
      FileScanOptions.DEFAULT.withPartitionColumns(
          new PartitionColumns(SCHEMA.select(List.of("kind", "group")), "__DEFAULT_PARTITION__"));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @TempDir Path folder;

  // The first batch is empty, the second is of one partition.
  private static List<List<Object>> rows(long batch) {
    return LongStream.range(batch * ROWS, batch == 0 ? 0 : (batch + 1) * ROWS)
        .mapToObj(
            id ->
                Arrays.<Object>asList(
                    batch == 1 || id % 2 == 0 ? "a=b" : null,
                    id,
                    batch == 1 ? 7 : (int) (id % 3),
                    "text " + id))
        .toList();
  }

  private static List<List<Object>> rowsThatAreRead(int batches) {
    return LongStream.range(0, batches)
        .boxed()
        .flatMap(batch -> rows(batch).stream())
        .map(row -> Arrays.asList(row.get(1), row.get(3), row.get(0), row.get(2)))
        .toList();
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  private org.apache.flink.core.fs.Path output(String name) {
    return new org.apache.flink.core.fs.Path(folder.resolve(name).toUri());
  }

  private static DataStream<ColumnBatch> batches(StreamExecutionEnvironment environment) {
    return TableSourceOperator.batches(
        environment.fromSequence(0, BATCHES - 1), SCHEMA, PartitionedFilesTest::rows);
  }

  @OutOfMemoryTest(onCluster = true, attempts = 1)
  void eachRowIsInTheFolderOfItsPartition() throws Exception {
    StreamExecutionEnvironment writing = flink.environment(1);
    DataStream<ColumnBatch> batches = batches(writing);
    FileSinks.write(batches, SCHEMA, new JsonLinesEncoder(), output("json"), SINK);
    FileSinks.write(batches, SCHEMA, new ArrowStreamEncoder(), output("arrow"), SINK);
    ParquetFileSink.write(batches, SCHEMA, output("parquet"), ParquetWriterOptions.DEFAULT, SINK);
    flink.run(writing);
    StreamExecutionEnvironment reading = flink.environment(1);
    Map<String, BatchCollector> read = new HashMap<>();
    for (String format : List.of("json", "arrow", "parquet")) {
      read.put(format, read(reading, format));
      assertThat(OutputFolder.files(folder.resolve(format)))
          .extracting(file -> folder.resolve(format).relativize(file.getParent()).toString())
          .containsExactlyInAnyOrderElementsOf(
              Stream.concat(
                      Stream.of("group=7/kind=a%3Db"),
                      Stream.of(0, 1, 2)
                          .flatMap(
                              group ->
                                  Stream.of("a%3Db", "__DEFAULT_PARTITION__")
                                      .map(kind -> "group=" + group + "/kind=" + kind)))
                  .toList());
    }
    flink.run(reading);
    read.forEach(
        (format, collector) ->
            assertThat(collector.rows())
                .as(format)
                .containsExactlyInAnyOrderElementsOf(rowsThatAreRead(BATCHES)));
  }

  private BatchCollector read(StreamExecutionEnvironment reading, String format) throws Exception {
    List<String> paths = List.of(path(format));
    BatchCollector collector = new BatchCollector();
    collector.collect(
        switch (format) {
          case "parquet" ->
              ParquetFileSource.batches(reading, InputFiles.resolve(paths), FILES, SCAN);
          case "arrow" -> ArrowFileSource.batches(reading, InputFiles.resolve(paths), FILES, SCAN);
          default ->
              TextDecodingOperator.decode(
                  reading.fromSource(
                      TextFileSource.of(paths).create(new TextBlockFormat(TextLineOptions.DEFAULT)),
                      WatermarkStrategy.noWatermarks(),
                      "lines"),
                  new JsonRecordFormat(FILES),
                  TextLineOptions.DEFAULT,
                  MalformedLinePolicy.FAIL,
                  100,
                  Optional.empty(),
                  SCAN);
        });
    return collector;
  }

  private List<List<Object>> rowsOf(String format) throws Exception {
    StreamExecutionEnvironment reading = flink.environment(1);
    BatchCollector collector = read(reading, format);
    flink.run(reading);
    return collector.rows();
  }

  @OutOfMemoryTest(onCluster = true, attempts = 3)
  void batchesThatDoNotFitAreCutInParts() throws Exception {
    StreamExecutionEnvironment writing = flink.environment(1);
    FileSinks.write(batches(writing), SCHEMA, new JsonLinesEncoder(), output("json"), SINK);
    flink.run(writing);
    assertThat(OutputFolder.files(folder.resolve("json"))).hasSize(PARTITIONS);
    assertThat(OutputFolder.sortedLines(folder.resolve("json")))
        .isEqualTo(
            LongStream.range(ROWS, BATCHES * ROWS)
                .mapToObj(id -> "{\"id\":%d,\"text\":\"text %1$d\"}".formatted(id))
                .sorted()
                .toList());
  }

  @Test
  void failuresLoseAndDoubleNothing() throws Exception {
    int numbers = 150;
    StreamExecutionEnvironment writing = FailOnce.restartingEnvironment(flink);
    List<FailOnce<Long>> failures = List.of(new FailOnce<>(), new FailOnce<>());
    DataStream<Long> rows = writing.fromSequence(0, numbers - 1);
    for (FailOnce<Long> failure : failures) {
      rows = rows.map(failure).returns(Long.class);
    }
    DataStream<ColumnBatch> batches =
        TableSourceOperator.batches(
            rows.map(new SlowDown<>()).returns(Long.class), SCHEMA, PartitionedFilesTest::rows);
    FileSinks.write(batches, SCHEMA, new JsonLinesEncoder(), output("json"), SINK);
    ParquetFileSink.write(batches, SCHEMA, output("parquet"), ParquetWriterOptions.DEFAULT, SINK);
    flink.run(writing);
    assertThat(failures).allMatch(FailOnce::hasFailed);
    for (String format : List.of("json", "parquet")) {
      assertThat(rowsOf(format))
          .as(format)
          .containsExactlyInAnyOrderElementsOf(rowsThatAreRead(numbers));
    }
  }

  @Test
  void keysAreCheckedBeforeTheJobRuns() {
    StreamExecutionEnvironment environment = flink.environment(1);
    for (PartitionKeys keys :
        List.of(
            PartitionKeys.of("none"),
            PartitionKeys.of("kind", "id", "group", "text"),
            PartitionKeys.of("_hidden"))) {
      assertThatThrownBy(
              () ->
                  FileSinks.write(
                      batches(environment),
                      SCHEMA,
                      new JsonLinesEncoder(),
                      output("json"),
                      FileSinkOptions.DEFAULT.withPartitionKeys(keys)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching(
              ".*'none'.*|files need a column that is not a partition key"
                  + "|folders of the partition key '_hidden' would be hidden.*");
    }
  }

  @Test
  void aFileOutsideOfPartitionsFails() throws Exception {
    Files.writeString(Files.createDirectory(folder.resolve("json")).resolve("a"), "{\"id\":1}\n");
    assertThatThrownBy(() -> rowsOf("json")).hasMessageContaining("/a: no folder 'kind=...'");
  }
}
