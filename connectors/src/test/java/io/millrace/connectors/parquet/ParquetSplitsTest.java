// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.connectors.files.message.MessageRows;
import io.millrace.expression.Expression;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.connector.file.src.util.CheckpointedPosition;
import org.apache.flink.connector.file.src.util.RecordAndPosition;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Which row groups, columns and rows of a file are read: splits, positions, filters, columns. */
class ParquetSplitsTest {
  private static final Schema SCHEMA =
      Schema.of(
          new Field("id", DataType.INT64, false),
          Field.of("name", DataType.STRING),
          Field.of("price", DataType.decimal(20, 2)),
          Field.of("x", DataType.FLOAT64),
          Field.of("day", DataType.DATE),
          Field.of("at", DataType.timestamp(6)),
          Field.of("empty", DataType.INT32),
          new Field("filling", DataType.STRING, false));
  private static final int ROW_GROUPS = 5;
  private static final int ROWS = 500;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @RegisterExtension final RandomExtension random = new RandomExtension();

  @TempDir Path folder;

  private Path file;
  private List<List<Object>> rows;

  @BeforeEach
  void write() throws Exception {
    file = folder.resolve("file.parquet");
    rows = new ArrayList<>();
    List<byte[]> rowGroups = new ArrayList<>();
    for (int group = 0; group < ROW_GROUPS; group++) {
      int first = group * ROWS;
      List<List<Object>> part = IntStream.range(first, first + ROWS).mapToObj(this::row).toList();
      rows.addAll(part);
      rowGroups.add(ParquetFiles.encodeRows(device, SCHEMA, ParquetWriterOptions.DEFAULT, part));
    }
    ParquetFiles.write(file, rowGroups);
  }

  private List<Object> row(int i) {
    byte[] filling = new byte[100];
    random.random().nextBytes(filling);
    return Arrays.asList(
        (long) i,
        i % 3 == 0 ? null : "name " + (char) ('a' + i / ROWS),
        BigDecimal.valueOf(i * 100L, 2),
        i == 0 ? Double.NaN : i / 2.0,
        LocalDate.of(2024, 1, 1).plusDays(i / ROWS),
        LocalDateTime.of(2024, 1, 1, 0, 0).plusSeconds(i),
        null,
        HexFormat.of().formatHex(filling));
  }

  private ParquetFileFormat format(Schema schema, Expression condition) {
    return new ParquetFileFormat(schema, RowGroupFilter.of(condition));
  }

  private List<List<Object>> read(FileSourceSplit split) throws Exception {
    return RowGroupRows.read(
        device, new ParquetFileFormat(SCHEMA, RowGroupFilter.all()), SCHEMA, split);
  }

  @Test
  void eachRowGroupIsReadByOneOfAnySplits() throws Exception {
    long size = Files.size(file);
    for (int run = 0; run < 10; run++) {
      long[] cuts = random.random().longs(4, 0, size).sorted().toArray();
      List<List<Object>> read = new ArrayList<>();
      long start = 0;
      for (int i = 0; i <= cuts.length; i++) {
        long end = i < cuts.length ? cuts[i] : size;
        read.addAll(read(RowGroupRows.split(file, start, end, null)));
        start = end;
      }
      assertThat(read).isEqualTo(rows);
    }
  }

  @Test
  void readersOfASubtaskEndTogether() throws Exception {
    Files.writeString(folder.resolve("no.parquet"), "this is read by nobody");
    Configuration configuration = new Configuration();
    ParquetFileFormat format = new ParquetFileFormat(SCHEMA, RowGroupFilter.all());
    FileSourceSplit split = RowGroupRows.split(file, 0, Files.size(file), null);
    try (BulkFormat.Reader<MessageRows> reader = format.createReader(configuration, split)) {
      reader.readBatch().next().getRecord().limit().end();
      assertThat(reader.readBatch()).isNull();
    }
    FileSourceSplit other = RowGroupRows.split(folder.resolve("no.parquet"), 0, 10, null);
    try (BulkFormat.Reader<MessageRows> reader = format.createReader(configuration, other)) {
      assertThat(reader.readBatch()).isNull();
    }
  }

  @Test
  void aSplitGoesOnBehindEachOfItsParts() throws Exception {
    ParquetFileFormat format = new ParquetFileFormat(SCHEMA, RowGroupFilter.all());
    long size = Files.size(file);
    List<RecordAndPosition<MessageRows>> parts =
        RowGroupRows.parts(format, RowGroupRows.split(file, 0, size, null));
    assertThat(parts.size()).isGreaterThan(2 * ROW_GROUPS);
    int read = 0;
    for (RecordAndPosition<MessageRows> part : parts) {
      read += part.getRecord().rows();
      CheckpointedPosition position =
          new CheckpointedPosition(part.getOffset(), part.getRecordSkipCount());
      assertThat(read(RowGroupRows.split(file, 0, size, position)))
          .isEqualTo(rows.subList(read, rows.size()));
    }
    assertThat(read).isEqualTo(rows.size());
  }

  private void assertRead(Expression condition, int... rowGroups) throws Exception {
    List<List<Object>> expected = new ArrayList<>();
    for (int group : rowGroups) {
      expected.addAll(rows.subList(group * ROWS, (group + 1) * ROWS));
    }
    assertThat(
            RowGroupRows.read(
                device,
                format(SCHEMA, condition),
                SCHEMA,
                RowGroupRows.split(file, 0, Files.size(file), null)))
        .as(condition.toString())
        .isEqualTo(expected);
  }

  @Test
  void rowGroupsAreLeftOutWhereAConditionHoldsForNoRow() throws Exception {
    assertRead(col("id").lt(500L), 0);
    assertRead(col("id").le(500L), 0, 1);
    assertRead(col("id").gt(1999), 4);
    assertRead(col("id").ge(1999), 3, 4);
    assertRead(col("id").isEqual(777L), 1);
    assertRead(Expression.of(777L).isEqual(col("id")), 1);
    assertRead(Expression.of(1999L).lt(col("id")), 4);
    assertRead(col("id").gt(600L).and(col("id").lt(900L)), 1);
    assertRead(col("id").gt(600L).and(col("name").isEqual("name d")), 3);
    assertRead(col("name").gt("name d"), 4);
    assertRead(col("price").lt(new BigDecimal("500.00")), 0);
    assertRead(col("price").isEqual(1250), 2);
    assertRead(col("day").isEqual(LocalDate.of(2024, 1, 3)), 2);
    assertRead(col("at").lt(LocalDateTime.of(2024, 1, 1, 0, 8, 20)), 0);
    assertRead(col("empty").isEqual(1));
    assertRead(col("x").lt(100.0), 0);
    // The first row group has NaN, and so no smallest and largest value.
    assertRead(col("x").gt(1000.0), 0, 4);
  }

  @Test
  void allRowGroupsAreReadWhereStatisticsDoNotTell() throws Exception {
    int[] all = {0, 1, 2, 3, 4};
    assertRead(col("id").lt(500L).or(col("id").gt(1999L)), all);
    assertRead(col("id").isNotEqual(5L), all);
    assertRead(col("id").plus(1L).isEqual(1L), all);
    assertRead(col("id").lt(100.0), all);
    assertRead(col("name").isEqual(5), all);
    assertRead(col("day").isEqual("2024-01-03"), all);
    // NaN is greater than each decimal.
    assertRead(col("x").gt(new BigDecimal("5000.0")), all);
  }

  @Test
  void onlyTheChunksOfSelectedColumnsAreRead() throws Exception {
    Schema few = Schema.of(Field.of("x", DataType.FLOAT64), SCHEMA.field(0));
    FileSourceSplit split = RowGroupRows.split(file, 0, Files.size(file), null);
    assertThat(
            RowGroupRows.read(device, new ParquetFileFormat(few, RowGroupFilter.all()), few, split))
        .isEqualTo(rows.stream().map(row -> List.of(row.get(3), row.get(0))).toList());

    assertThat(bytesRead(SCHEMA, col("id").isNotEqual(-1L)))
        .isGreaterThan(Files.size(file) * 9 / 10);
    assertThat(bytesRead(few, col("id").isNotEqual(-1L))).isLessThan(Files.size(file) / 8);
    assertThat(bytesRead(SCHEMA, col("id").isEqual(777L)))
        .isLessThan(Files.size(file) / ROW_GROUPS * 2);
  }

  private long bytesRead(Schema schema, Expression condition) throws Exception {
    long before = CountingFileSystem.READ.get();
    FileSourceSplit local = RowGroupRows.split(file, 0, Files.size(file), null);
    RowGroupRows.parts(
        format(schema, condition),
        new FileSourceSplit(
            "split",
            new org.apache.flink.core.fs.Path("counting://" + file),
            0,
            local.length(),
            0,
            local.fileSize()));
    return CountingFileSystem.READ.get() - before;
  }
}
