// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.parquet.column.ParquetProperties.WriterVersion;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files that another system reads, or has written. */
class ParquetInteroperabilityTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("bool", DataType.BOOL),
          Field.of("tiny", DataType.INT8),
          Field.of("small", DataType.INT16),
          Field.of("int", DataType.INT32),
          new Field("big", DataType.INT64, false),
          Field.of("float", DataType.FLOAT32),
          Field.of("double", DataType.FLOAT64),
          Field.of("price", DataType.decimal(9, 2)),
          Field.of("sum", DataType.decimal(18, 6)),
          Field.of("huge", DataType.decimal(38, 10)),
          Field.of("day", DataType.DATE),
          Field.of("millis", DataType.timestamp(3)),
          Field.of("micros", DataType.timestamp(6)),
          Field.of("nanos", DataType.timestamp(9)),
          Field.of("instant", DataType.timestamp(6, true)),
          Field.of("text", DataType.STRING),
          Field.of("bytes", DataType.BINARY),
          Field.of("ints", DataType.list(DataType.INT32)),
          Field.of(
              "pair",
              DataType.struct(
                  Field.of("x", DataType.STRING),
                  Field.of("y", DataType.list(DataType.list(DataType.INT64))))));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @RegisterExtension final RandomExtension random = new RandomExtension();

  @TempDir Path folder;

  // Years that each system knows.
  private Object moderate(Object value) {
    Random generator = random.random();
    long second = generator.nextInt();
    if (value instanceof LocalDate) {
      return LocalDate.ofEpochDay(generator.nextInt(100_000) - 50_000);
    } else if (value instanceof Instant) {
      return Instant.ofEpochSecond(second, generator.nextInt(1_000_000) * 1000L);
    } else if (value instanceof LocalDateTime) {
      return LocalDateTime.ofEpochSecond(
          second, generator.nextInt(1000) * 1_000_000, ZoneOffset.UTC);
    }
    return value;
  }

  // DuckDB does not read decimals in the delta encoding of version 2.
  private static Schema withoutLongDecimals() {
    return SCHEMA.select(SCHEMA.names().stream().filter(name -> !name.equals("huge")).toList());
  }

  @ParameterizedTest
  @EnumSource(ParquetCompression.class)
  void anotherSystemReadsOurFiles(ParquetCompression compression) throws Exception {
    RandomTables tables = new RandomTables(random.random(), 0.2);
    for (WriterVersion version : WriterVersion.values()) {
      Schema schema = version == WriterVersion.PARQUET_1_0 ? SCHEMA : withoutLongDecimals();
      ParquetWriterOptions options =
          ParquetWriterOptions.DEFAULT
              .withCompression(compression)
              .withVersion(version)
              .withPageBytes(1000);
      List<List<Object>> rows = new ArrayList<>();
      List<byte[]> rowGroups = new ArrayList<>();
      for (int size : List.of(1500, 1)) {
        List<List<Object>> part =
            tables.rows(schema, size).stream()
                .map(row -> row.stream().map(this::moderate).collect(Collectors.toList()))
                .toList();
        rowGroups.add(ParquetFiles.encodeRows(device, schema, options, part));
        rows.addAll(part);
      }
      Path file = folder.resolve(compression + "-" + version + ".parquet");
      ParquetFiles.write(file, rowGroups);
      try (DuckDb database = new DuckDb()) {
        List<List<Object>> read = database.read(file, schema);
        assertThat(read).hasSameSizeAs(rows);
        for (int row = 0; row < rows.size(); row++) {
          assertThat(read.get(row)).as("row %d", row).isEqualTo(rows.get(row));
        }
      }
      assertThat(RowGroupRows.schema(file)).isEqualTo(schema);
      assertThat(RowGroupRows.all(device, schema, file)).isEqualTo(rows);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "zstd, V1",
    "snappy, V1",
    "gzip, V1",
    "uncompressed, V1",
    "zstd, V2",
    "uncompressed, V2"
  })
  void filesOfAnotherSystemAreRead(String compression, String version) throws Exception {
    String query =
        """
        SELECT i::BIGINT AS i, (i % 100)::TINYINT AS tiny, (i % 1000)::SMALLINT AS small,
          CASE WHEN i % 3 > 0 THEN (i * 7919)::INTEGER END AS n, i % 2 = 0 AS even,
          (i % 256)::UTINYINT AS u8, (i * 10)::USMALLINT AS u16, (4294967295 - i)::UINTEGER AS u32,
          (i / 7)::FLOAT AS f, CASE WHEN i % 5 > 0 THEN i / 3 END AS d,
          (i / 8)::DECIMAL(9, 3) AS d9, (i * 1000003 / 8)::DECIMAL(18, 4) AS d18,
          (i * 1000003::HUGEINT * 1000000007)::DECIMAL(38, 5) AS d38,
          DATE '2020-01-01' + i::INTEGER AS day,
          TIMESTAMP '2021-05-06 07:08:09.123456' + to_microseconds(i * 1001) AS at,
          make_timestamp_ns(1700000000000000001 + i * 1000000007) AS nanos,
          to_timestamp(1600000000 + i) AS instant,
          'text ' || (i % 17) AS few, CASE WHEN i % 4 > 0 THEN repeat('ä', (i % 9)::INTEGER) || i END AS many,
          ('b' || i)::BLOB AS bytes, [i, NULL, i + 1] AS list,
          CASE WHEN i % 6 > 0 THEN [{'a': i, 'b': ['x' || i]}, NULL] END AS structs,
          MAP {'k' || i: i} AS map
        FROM range(5000) t(i)
        """;
    Path file = folder.resolve("in.parquet");
    try (DuckDb database = new DuckDb()) {
      database.copy(
          query,
          file,
          "COMPRESSION " + compression + ", ROW_GROUP_SIZE 2048, PARQUET_VERSION " + version);
      Schema schema = RowGroupRows.schema(file);
      assertThat(schema.type(5)).isEqualTo(DataType.INT16);
      assertThat(schema.type(7)).isEqualTo(DataType.INT64);
      assertThat(schema.field(22).type().toString())
          .isEqualTo("ARRAY<ROW<key STRING NOT NULL, value BIGINT> NOT NULL>");
      List<List<Object>> expected = database.read(file, schema);
      assertThat(expected).hasSize(5000);
      assertThat(RowGroupRows.all(device, schema, file)).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"lz4_raw", "brotli"})
  void unsupportedCompressionNamesFileAndColumn(String compression) throws Exception {
    Path file = folder.resolve("in.parquet");
    try (DuckDb database = new DuckDb()) {
      database.copy("SELECT 1 AS a", file, "COMPRESSION " + compression);
    }
    Schema schema = RowGroupRows.schema(file);
    assertThatThrownBy(() -> RowGroupRows.all(device, schema, file))
        .hasMessageContaining(
            "in.parquet: column 'a' is compressed by " + compression.toUpperCase(Locale.ROOT));
  }

  @Test
  void unsupportedTypesNameTheColumnAndDoNotHinderOthers() throws Exception {
    Path file = folder.resolve("in.parquet");
    try (DuckDb database = new DuckDb()) {
      database.copy(
          "SELECT 1 AS a, 18446744073709551615::UBIGINT AS b, TIME '01:02:03.000004' AS c",
          file,
          "COMPRESSION zstd");
    }
    assertThatThrownBy(() -> RowGroupRows.schema(file))
        .hasMessageContaining("in.parquet: column 'b' has the type INT64");
    Schema readable = Schema.of(Field.of("a", DataType.INT32));
    assertThat(RowGroupRows.all(device, readable, file)).containsExactly(List.of(1));
  }

  @Test
  void encryptedAndForeignFilesAreRefused() throws Exception {
    Path file = folder.resolve("in.parquet");
    try (DuckDb database = new DuckDb()) {
      database.copy("SELECT 1 AS a", file, "COMPRESSION zstd");
    }
    byte[] content = Files.readAllBytes(file);
    // What files with an encrypted footer end with.
    content[content.length - 1] = 'E';
    Files.write(file, content);
    assertThatThrownBy(() -> RowGroupRows.schema(file))
        .hasMessageContaining("in.parquet is encrypted, which is not supported");
    Files.writeString(file, "{\"a\": 1, \"b\": 2}");
    assertThatThrownBy(() -> RowGroupRows.schema(file))
        .hasMessageContaining("in.parquet is not a Parquet file: it does not end with PAR1");
    Files.writeString(file, "{}");
    assertThatThrownBy(() -> RowGroupRows.schema(file))
        .hasMessageContaining("in.parquet is not a Parquet file: it has 2 bytes");
  }

  @Test
  void anotherTypeOrAMissingColumnNamesFileAndColumn() throws Exception {
    Path file = folder.resolve("in.parquet");
    try (DuckDb database = new DuckDb()) {
      database.copy("SELECT 1 AS a", file, "COMPRESSION zstd");
    }
    assertThatThrownBy(
            () -> RowGroupRows.all(device, Schema.of(Field.of("a", DataType.INT64)), file))
        .hasMessageContaining("in.parquet: expected BIGINT for column 'a', got INT");
    assertThatThrownBy(
            () -> RowGroupRows.all(device, Schema.of(Field.of("b", DataType.INT64)), file))
        .hasMessageContaining("in.parquet: there is no column 'b'; the columns are a");
    try (DuckDb database = new DuckDb()) {
      database.copy("SELECT {'b': 2, 'a': 1} AS r", file, "COMPRESSION zstd");
    }
    DataType row = DataType.struct(Field.of("a", DataType.INT32), Field.of("b", DataType.INT32));
    assertThatThrownBy(() -> RowGroupRows.all(device, Schema.of(Field.of("r", row)), file))
        .hasMessageContaining(
            "in.parquet: expected ROW<a INT, b INT> for column 'r', got ROW<b INT, a INT>");
  }
}
