// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.files.FailOnce;
import io.millrace.connectors.files.OutputFolder;
import io.millrace.connectors.files.SlowDown;
import io.millrace.connectors.files.sink.FileCompaction;
import io.millrace.connectors.files.sink.FileSinkOptions;
import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.TableSourceOperator;
import io.millrace.testing.DataTypes;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.FileSystem.WriteMode;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.parquet.format.RowGroup;
import org.apache.parquet.format.Statistics;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Parquet files that are joined: row groups, and each row once in jobs that fail. */
@ExtendWith(NothingHeldExtension.class)
class ParquetCompactionTest {
  private static final int ROWS = 300;
  private static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of("name", DataType.STRING),
          Field.of("tags", DataType.list(DataType.STRING)));

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @RegisterExtension final RandomExtension random = new RandomExtension();

  @TempDir Path folder;

  private static List<List<Object>> rows(long start, long end) {
    return LongStream.range(start, end)
        .mapToObj(id -> List.<Object>of(id, "name " + id, List.of("a", "b" + id % 5)))
        .toList();
  }

  private static org.apache.flink.core.fs.Path flinkPath(Path file) {
    return new org.apache.flink.core.fs.Path(file.toUri());
  }

  /** A file with a row group for each list of rows. */
  private Path file(String name, Schema schema, List<List<List<Object>>> rowGroups)
      throws IOException {
    List<byte[]> encoded = new ArrayList<>();
    for (List<List<Object>> rows : rowGroups) {
      encoded.add(ParquetFiles.encodeRows(device, schema, ParquetWriterOptions.DEFAULT, rows));
    }
    Path file = folder.resolve(name);
    ParquetFiles.write(file, encoded);
    return file;
  }

  private Path join(Schema schema, long rowGroupBytes, List<Path> files) throws Exception {
    org.apache.flink.core.fs.Path joined = flinkPath(folder.resolve("joined.parquet"));
    ParquetWriterOptions options = ParquetWriterOptions.DEFAULT.withRowGroupBytes(rowGroupBytes);
    try (FSDataOutputStream out = joined.getFileSystem().create(joined, WriteMode.OVERWRITE)) {
      ParquetFileSink.Writer writer = new ParquetFileSink.Writer(out);
      new RowGroupCompactor(".parquet", schema, options)
          .compact(
              files.stream().map(ParquetCompactionTest::flinkPath).toList(), writer::addElement);
      writer.finish();
    }
    return folder.resolve("joined.parquet");
  }

  private static List<Long> rowCounts(Path file) throws IOException {
    return ParquetFiles.rowGroups(file).stream().map(RowGroup::getNum_rows).toList();
  }

  private void assertRows(Path file, List<List<Object>> rows) throws Exception {
    assertThat(RowGroupRows.all(device, SCHEMA, file)).isEqualTo(rows);
    try (DuckDb database = new DuckDb()) {
      assertThat(database.read(file, SCHEMA)).isEqualTo(rows);
    }
  }

  @Test
  void smallRowGroupsBecomeOneWithTheStatisticsOfAll() throws Exception {
    List<Path> files = new ArrayList<>();
    for (long i = 0; i < 10; i++) {
      List<List<List<Object>>> parts =
          List.of(rows(i * 20, i * 20 + 5), rows(i * 20 + 5, i * 20 + 20));
      files.add(file(i + ".parquet", SCHEMA, parts));
    }
    Path joined = join(SCHEMA, 64 << 20, files);
    assertRows(joined, rows(0, 200));
    assertThat(rowCounts(joined)).containsExactly(200L);
    Statistics ids =
        ParquetFiles.rowGroups(joined).get(0).getColumns().get(0).getMeta_data().getStatistics();
    assertThat(ids.getMin_value()[0]).isZero();
    assertThat(ids.getMax_value()[0]).isEqualTo((byte) 199);
    long before = files.stream().mapToLong(file -> file.toFile().length()).sum();
    assertThat(Files.size(joined)).isLessThan(before / 2);
  }

  @Test
  void largeRowGroupsAreCopied() throws Exception {
    List<List<Object>> large = rows(10, 5000);
    Path first = file("first.parquet", SCHEMA, List.of(rows(0, 10), large));
    Path second = file("second.parquet", SCHEMA, List.of(rows(5000, 5010), rows(5010, 5020)));
    RowGroup original = ParquetFiles.rowGroups(first).get(1);
    Path joined = join(SCHEMA, original.getTotal_compressed_size(), List.of(first, second));
    assertRows(joined, rows(0, 5020));
    assertThat(rowCounts(joined)).containsExactly(10L, 4990L, 20L);
    RowGroup copied = ParquetFiles.rowGroups(joined).get(1);
    ParquetFooter.move(original, ParquetFooter.offset(copied) - ParquetFooter.offset(original));
    assertThat(copied).isEqualTo(original);
  }

  @Test
  void oneFileAndAFileWithoutRowGroupsStayWhatTheyAre() throws Exception {
    Path one = file("one.parquet", SCHEMA, List.of(rows(0, 10)));
    assertRows(join(SCHEMA, 64 << 20, List.of(one)), rows(0, 10));
    assertThat(Files.readAllBytes(folder.resolve("joined.parquet")))
        .isEqualTo(Files.readAllBytes(one));
    Path none = folder.resolve("none.parquet");
    try (FSDataOutputStream out =
        flinkPath(none).getFileSystem().create(flinkPath(none), WriteMode.NO_OVERWRITE)) {
      out.write(ParquetFooter.magic());
      ParquetFooter.write(out, ParquetSchema.of(SCHEMA).elements(), List.of());
    }
    assertRows(join(SCHEMA, 64 << 20, List.of(none, one, none)), rows(0, 10));
  }

  // Flink copies files past the writer where compaction is stopped.
  @Test
  void aWriterWithoutRowGroupsWritesNothing() throws Exception {
    assertThat(Files.size(join(SCHEMA, 64 << 20, List.of()))).isZero();
  }

  @Test
  void columnsOfAllTypesAreJoined() throws Exception {
    Schema schema =
        DataTypes.schema(
            Stream.of(DataTypes.flat(), DataTypes.nested()).flatMap(List::stream).toList());
    RandomTables tables = new RandomTables(random.random(), 0.3);
    List<List<Object>> expected = new ArrayList<>();
    List<Path> files = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      List<List<Object>> rows =
          tables.rows(schema, 10 + 40 * i).stream()
              .map(row -> ParquetFiles.inRange(row, schema))
              .toList();
      expected.addAll(rows);
      files.add(file(i + ".parquet", schema, List.of(rows)));
    }
    long largest = Files.size(files.get(3));
    Path joined = join(schema, 2 * largest - 2000, files);
    assertThat(RowGroupRows.all(device, RowGroupRows.schema(joined), joined)).isEqualTo(expected);
    assertThat(rowCounts(joined)).containsExactly(150L, 130L);
  }

  @Test
  void filesOfOtherColumnsAreRefused() throws Exception {
    Schema other = Schema.of(Field.of("id", DataType.INT32));
    Path file = file("other.parquet", other, List.of(List.of(List.of(1))));
    assertThatThrownBy(() -> join(SCHEMA, 64 << 20, List.of(file)))
        .hasMessageContaining("other.parquet: expected the columns ")
        .hasMessageContaining("got " + other)
        .hasMessageContaining("sink.auto-compaction: false");
  }

  @Test
  void failuresLoseAndDoubleNothingAndThereAreFewerFiles() throws Exception {
    StreamExecutionEnvironment environment = FailOnce.restartingEnvironment(flink);
    List<FailOnce<Long>> failures = List.of(new FailOnce<>(), new FailOnce<>(), new FailOnce<>());
    DataStream<Long> ids = environment.fromSequence(0, ROWS - 1);
    for (FailOnce<Long> failure : failures) {
      ids = ids.map(failure).returns(Long.class);
    }
    DataStream<ColumnBatch> batches =
        TableSourceOperator.batches(
            ids.map(new SlowDown<>()).returns(Long.class), SCHEMA, id -> rows(id, id + 1));
    ParquetFileSink.write(batches, SCHEMA, flinkPath(folder.resolve("plain")));
    ParquetFileSink.write(
            batches,
            SCHEMA,
            flinkPath(folder.resolve("out")),
            ParquetWriterOptions.DEFAULT,
            FileSinkOptions.DEFAULT.withCompaction(
                FileCompaction.ofFileBytes(1 << 20).withCheckpoints(4)))
        .uid("sink");
    flink.run(environment);

    assertThat(failures).allMatch(FailOnce::hasFailed);
    List<Path> files = OutputFolder.files(folder.resolve("out"));
    assertThat(files.size()).isLessThan(OutputFolder.files(folder.resolve("plain")).size() / 2);
    List<List<Object>> read = new ArrayList<>();
    try (DuckDb database = new DuckDb()) {
      for (Path file : files) {
        assertThat(file.getFileName().toString()).startsWith("compacted-part-");
        assertThat(ParquetFiles.rowGroups(file)).hasSize(1);
        read.addAll(database.read(file, SCHEMA));
      }
    }
    assertThat(read).containsExactlyInAnyOrderElementsOf(rows(0, ROWS));
  }
}
