// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.files.FailOnce;
import io.millrace.connectors.files.OutputFolder;
import io.millrace.connectors.files.SlowDown;
import io.millrace.connectors.files.sink.FileRollingPolicy;
import io.millrace.connectors.files.sink.FileSinkOptions;
import io.millrace.connectors.files.sink.PartitionKeys;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.OutOfMemoryTest;
import io.millrace.operators.testing.TableSourceOperator;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Parquet files in jobs: each row once, over failures and savepoints. */
@ExtendWith(NothingHeldExtension.class)
class ParquetJobTest {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of("name", DataType.STRING),
          Field.of("tags", DataType.list(DataType.STRING)));
  private static final int ROWS_PER_BATCH = 10;
  private static final int BATCHES = 200;

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @RegisterExtension final RandomExtension random = new RandomExtension();

  @TempDir Path folder;

  private static List<List<Object>> batchRows(long number) {
    return LongStream.range(number * ROWS_PER_BATCH, (number + 1) * ROWS_PER_BATCH)
        .mapToObj(id -> List.<Object>of(id, "name " + id, List.of("a", "b" + id % 5)))
        .toList();
  }

  private static List<List<Object>> allRows(int batches) {
    return LongStream.range(0, batches).boxed().flatMap(i -> batchRows(i).stream()).toList();
  }

  private org.apache.flink.core.fs.Path path(String name) {
    return new org.apache.flink.core.fs.Path(folder.resolve(name).toUri());
  }

  private List<List<Object>> rows(String name) throws Exception {
    List<List<Object>> rows = new ArrayList<>();
    for (Path file : OutputFolder.files(folder.resolve(name))) {
      rows.addAll(RowGroupRows.all(device, SCHEMA, file));
    }
    return rows;
  }

  private static DataStream<ColumnBatch> batches(DataStream<Long> numbers) {
    return TableSourceOperator.batches(numbers, SCHEMA, ParquetJobTest::batchRows);
  }

  private DataStream<ColumnBatch> source(StreamExecutionEnvironment environment, String name)
      throws Exception {
    return ParquetFileSource.batches(
        environment, List.of(folder.resolve(name).toString()), SCHEMA, Optional.empty());
  }

  @OutOfMemoryTest(onCluster = true)
  void batchesAreWrittenAndReadAgain() throws Exception {
    StreamExecutionEnvironment writing = flink.environment(2);
    ParquetFileSink.write(batches(writing.fromSequence(0, 19)), SCHEMA, path("out"));
    flink.run(writing);
    assertThat(rows("out")).containsExactlyInAnyOrderElementsOf(allRows(20));
    assertThat(OutputFolder.files(folder.resolve("out")))
        .allMatch(file -> file.toString().endsWith(".parquet"));

    StreamExecutionEnvironment reading = flink.environment(2);
    BatchCollector collector = new BatchCollector();
    collector.collect(source(reading, "out"));
    flink.run(reading);
    assertThat(collector.rows()).containsExactlyInAnyOrderElementsOf(allRows(20));
  }

  // Each line that asks for memory while a value is decoded is in one of these columns.
  @OutOfMemoryTest(onCluster = true)
  void allTypesAreWrittenAndReadAgain() throws Exception {
    Schema schema =
        DataTypes.schema(
            Stream.of(DataTypes.flat(), DataTypes.nested()).flatMap(List::stream).toList());
    List<List<Object>> rows =
        new RandomTables(random.random(), 0.3)
            .rows(schema, 20).stream().map(row -> ParquetFiles.inRange(row, schema)).toList();
    Files.createDirectories(folder.resolve("in"));
    ParquetFiles.write(
        folder.resolve("in/file.parquet"),
        List.of(ParquetFiles.encodeRows(device, schema, ParquetWriterOptions.DEFAULT, rows)));
    StreamExecutionEnvironment environment = flink.environment(1);
    BatchCollector collector = new BatchCollector();
    collector.collect(
        ParquetFileSource.batches(
            environment,
            List.of(folder.resolve("in").toString()),
            RowGroupRows.schema(folder.resolve("in/file.parquet")),
            Optional.empty()));
    flink.run(environment);
    assertThat(collector.rows()).isEqualTo(rows);
  }

  private static void restartAtOnce(StreamExecutionEnvironment environment) {
    environment.enableCheckpointing(50);
    Configuration restart = new Configuration();
    restart.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restart.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
    environment.configure(restart);
  }

  @Test
  void aFailureBetweenCheckpointsLosesAndDoublesNothing() throws Exception {
    writeInput();
    StreamExecutionEnvironment environment = flink.environment(2);
    restartAtOnce(environment);
    FailOnce<Long> failure = new FailOnce<>();
    DataStream<Long> numbers =
        ColumnStream.fromBatches(source(environment, "in"))
            .toRows()
            .map(row -> row.<Long>getFieldAs("id"))
            .returns(Long.class)
            .map(failure)
            .returns(Long.class);
    ParquetFileSink.write(
        TableSourceOperator.batches(
            numbers, SCHEMA, id -> List.of(List.of(id, "name " + id, List.of("a", "b" + id % 5)))),
        SCHEMA,
        path("out"));
    flink.run(environment);
    assertThat(failure.hasFailed()).isTrue();
    assertThat(rows("out")).containsExactlyInAnyOrderElementsOf(allRows(BATCHES));
  }

  // Several files of several row groups.
  private void writeInput() throws Exception {
    StreamExecutionEnvironment writing = flink.environment(2);
    ParquetFileSink.write(
        batches(writing.fromSequence(0, BATCHES - 1)),
        SCHEMA,
        path("in"),
        ParquetWriterOptions.DEFAULT.withRowGroupBytes(4000),
        FileSinkOptions.DEFAULT);
    flink.run(writing);
  }

  @Test
  void aJobResumesFromASavepointAtAnotherParallelism() throws Exception {
    writeInput();
    StreamExecutionEnvironment first = flink.environment(2);
    SlowDown<Long> slow = new SlowDown<>();
    copy(first, slow);
    FlinkJob job = flink.submit(first);
    job.awaitRunning();
    slow.awaitElements(50);
    String savepoint = job.stopWithSavepoint(folder.resolve("savepoints"));
    assertThat(rows("out")).isNotEmpty().hasSizeLessThan(BATCHES * ROWS_PER_BATCH);

    Configuration restore = new Configuration();
    restore.set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint);
    StreamExecutionEnvironment second = flink.environment(3, restore);
    copy(second, id -> id);
    flink.run(second);
    assertThat(rows("out")).containsExactlyInAnyOrderElementsOf(allRows(BATCHES));
  }

  private void copy(
      StreamExecutionEnvironment environment,
      org.apache.flink.api.common.functions.MapFunction<Long, Long> step)
      throws Exception {
    DataStream<Long> numbers =
        ColumnStream.fromBatches(source(environment, "in"))
            .toRows()
            .map(row -> row.<Long>getFieldAs("id"))
            .returns(Long.class)
            .map(step)
            .returns(Long.class);
    ParquetFileSink.write(
        TableSourceOperator.batches(
            numbers, SCHEMA, id -> List.of(List.of(id, "name " + id, List.of("a", "b" + id % 5)))),
        SCHEMA,
        path("out"));
  }

  @Test
  void filesAreRolledBySizeInWholeRowGroups() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    ParquetFileSink.write(
        batches(environment.fromSequence(0, BATCHES - 1)),
        SCHEMA,
        path("out"),
        ParquetWriterOptions.DEFAULT.withRowGroupBytes(1000),
        FileSinkOptions.DEFAULT.withRolling(FileRollingPolicy.ON_CHECKPOINT.withMaxBytes(2000)));
    flink.run(environment);
    List<Path> files = OutputFolder.files(folder.resolve("out"));
    assertThat(files.size()).isGreaterThan(3);
    for (Path file : files.subList(0, files.size() - 1)) {
      assertThat(Files.size(file)).isLessThan(12_000);
    }
    assertThat(rows("out")).containsExactlyInAnyOrderElementsOf(allRows(BATCHES));
  }

  /** Returns how many row groups there are in the folders of 50 partitions, of two batches. */
  private int partitionedRowGroups(long rowGroupBytes) throws Exception {
    String name = "row groups of " + rowGroupBytes;
    StreamExecutionEnvironment environment = flink.environment(1);
    ParquetFileSink.write(
        TableSourceOperator.batches(
            environment.fromSequence(0, 1),
            SCHEMA,
            number ->
                LongStream.range(0, 50)
                    .mapToObj(id -> List.<Object>of(id, "name", List.of()))
                    .toList()),
        SCHEMA,
        path(name),
        ParquetWriterOptions.DEFAULT.withRowGroupBytes(rowGroupBytes),
        FileSinkOptions.DEFAULT.withPartitionKeys(PartitionKeys.of("id")));
    flink.run(environment);
    int rowGroups = 0;
    for (Path file : OutputFolder.files(folder.resolve(name))) {
      rowGroups += ParquetFiles.rowGroups(file).size();
    }
    return rowGroups;
  }

  /** A row group of one row takes some 84 KB of the heap for its two columns. */
  @Test
  void rowGroupsOfManyPartitionsShareMemory() throws Exception {
    assertThat(partitionedRowGroups(2 << 20)).isEqualTo(50);
    assertThat(partitionedRowGroups(200 << 10)).isEqualTo(100);
  }
}
