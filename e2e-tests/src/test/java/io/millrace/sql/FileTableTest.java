// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.connectors.nexmark.NexmarkSchemas;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.sql.NexmarkTables.Content;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files as tables: the connector {@code millrace-filesystem}, with the planner hook and without.
 */
@ExtendWith(NothingHeldExtension.class)
class FileTableTest {
  private static final int BIDS = 5_000;
  private static final String BID_COLUMNS = NexmarkTables.columns(NexmarkSchemas.BID);
  private static final String QUERY =
      "SELECT date_time, auction, channel FROM %s WHERE price > 1000 AND MOD(bidder, 3) = 0";

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @TempDir Path folder;

  private String table(String name, String connector, String columns, String... options) {
    return "CREATE TEMPORARY TABLE %s (%s) WITH ('connector' = '%s', 'path' = '%s', %s)"
        .formatted(
            name, columns, connector, folder.resolve("files").toUri(), String.join(", ", options));
  }

  private static SqlSession session(SqlMode mode, String... statements) {
    Content content = mode == SqlMode.ON ? Content.BID_BATCHES : Content.BID_ROWS;
    return new SqlSession(flink, mode).with(content.createTable("bid", BIDS)).with(statements);
  }

  private static Map<Row, Integer> expected() throws Exception {
    return session(SqlMode.OFF).rows(QUERY.formatted("bid"));
  }

  @ParameterizedTest
  @CsvSource({
    "json, ON", "csv, ON", "parquet, ON", "arrow, ON",
    "json, OFF", "csv, OFF", "parquet, OFF", "arrow, OFF"
  })
  void filesAreReadAsTheyWereWritten(String format, SqlMode mode) throws Exception {
    String insert = "INSERT INTO files SELECT * FROM bid";
    String table =
        table("files", "millrace-filesystem", BID_COLUMNS, "'format' = '" + format + "'");
    SqlSession session = session(mode, table);
    if (mode == SqlMode.ON) {
      assertThat(session.nodes(insert))
          .containsExactly("MillraceSink", "MillraceWatermarkAssigner", "MillraceTableSourceScan");
      assertThat(session.plan(insert)).doesNotContain("in=[rows]");
    }
    session.insert(insert);
    SqlSession reading = session(mode, table);
    if (mode == SqlMode.ON) {
      assertThat(reading.nodes(QUERY.formatted("files")))
          .containsExactly("MillraceCalc", "MillraceTableSourceScan");
    }
    assertThat(reading.rows(QUERY.formatted("files"))).isEqualTo(expected());
  }

  @ParameterizedTest
  @ValueSource(strings = {"json", "csv"})
  void flinkReadsWhatIsWritten(String format) throws Exception {
    String option = "'format' = '" + format + "'";
    session(SqlMode.ON, table("files", "millrace-filesystem", BID_COLUMNS, option))
        .insert("INSERT INTO files SELECT * FROM bid");
    assertThat(
            session(SqlMode.OFF, table("files", "filesystem", BID_COLUMNS, option))
                .rows(QUERY.formatted("files")))
        .isEqualTo(expected());
  }

  @ParameterizedTest
  @ValueSource(strings = {"json", "csv"})
  void whatFlinkWritesIsRead(String format) throws Exception {
    String option = "'format' = '" + format + "'";
    session(SqlMode.OFF, table("files", "filesystem", BID_COLUMNS, option))
        .insert("INSERT INTO files SELECT * FROM bid");
    assertThat(
            session(SqlMode.ON, table("files", "millrace-filesystem", BID_COLUMNS, option))
                .rows(QUERY.formatted("files")))
        .isEqualTo(expected());
  }

  @Test
  void conditionsAndFieldsOfRowsAreReadByTheReader() throws Exception {
    Files.createDirectory(folder.resolve("files"));
    Files.writeString(
        folder.resolve("files").resolve("rows.jsonl"),
        """
        {"id": 1, "row": {"name": "a", "box": {"x": 10, "y": 11}}, "tags": ["t"]}
        {"id": 2, "row": null, "tags": null}
        {"id": 3, "row": {"name": "c", "box": null}}
        {"id": 4, "row": {"name": "d", "box": {"x": 40, "y": 41}}}
        """);
    String table =
        table(
            "files",
            "millrace-filesystem",
            "id BIGINT, `row` ROW<name STRING, box ROW<x INT, y INT>>, tags ARRAY<STRING>",
            "'format' = 'json'");
    String query = "SELECT `row`.box.x, id, `row`.name FROM files WHERE id < 4 AND id <> 3";
    for (SqlMode mode : List.of(SqlMode.ON, SqlMode.OFF)) {
      SqlSession session = new SqlSession(flink, mode).with(table);
      assertThat(session.plan(query))
          .contains("filter=[and(")
          .contains("row_box_x")
          .doesNotContain("where=");
      assertThat(session.rows(query).keySet())
          .containsExactlyInAnyOrder(Row.of(10, 1L, "a"), Row.of(null, 2L, null));
      assertThat(new SqlSession(flink, mode).with(table).rows("SELECT COUNT(*) FROM files"))
          .containsOnlyKeys(Row.of(4L));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"arrow", "parquet"})
  void fieldsOfRowsAreReadInBatches(String format) throws Exception {
    String table =
        table(
            "files",
            "millrace-filesystem",
            "id BIGINT, `row` ROW<name STRING, box ROW<x BIGINT, y BIGINT>>",
            "'format' = '" + format + "'");
    session(SqlMode.ON, table)
        .insert("INSERT INTO files SELECT auction, ROW(channel, ROW(price, bidder)) FROM bid");
    String query = "SELECT `row`.box.x, id, `row`.name FROM files WHERE MOD(`row`.box.y, 3) = 0";
    SqlSession session = session(SqlMode.ON, table);
    assertThat(session.nodes(query)).containsExactly("MillraceCalc", "MillraceTableSourceScan");
    assertThat(session.plan(query)).contains("row.box.x").doesNotContain("in=[rows]");
    assertThat(session.rows(query))
        .isEqualTo(
            session(SqlMode.OFF)
                .rows("SELECT price, auction, channel FROM bid WHERE MOD(bidder, 3) = 0"));
  }

  /** Flink unescapes the delimiter, and takes the escape as it is. */
  @Test
  void charactersOfCsvAreGivenAsInFlink() throws Exception {
    Files.createDirectory(folder.resolve("files"));
    Files.writeString(
        folder.resolve("files").resolve("rows.csv"), "1\u0001a\\\u0001b\n2\u0001c,d\n");
    String[] options = {
      "'format' = 'csv'", "'csv.field-delimiter' = '\\u0001'", "'csv.escape-character' = '\\'"
    };
    String table = table("files", "millrace-filesystem", "id INT, name STRING", options);
    Map<Row, Integer> rows =
        new SqlSession(flink, SqlMode.ON).with(table).rows("SELECT * FROM files");
    assertThat(rows).containsOnlyKeys(Row.of(1, "a\u0001b"), Row.of(2, "c,d"));
    assertThat(rows)
        .isEqualTo(
            new SqlSession(flink, SqlMode.OFF)
                .with(table.replace("millrace-filesystem", "filesystem"))
                .rows("SELECT * FROM files"));
  }

  @Test
  void recordsThatAreMalformedAreLeftOutOrFailTheJob() throws Exception {
    Files.createDirectory(folder.resolve("files"));
    Files.writeString(
        folder.resolve("files").resolve("rows.csv"), "1;a\nx;b\n3;'c;c'\n4;null\n\\5;d\n");
    String columns = "id INT, name STRING";
    String[] options = {
      "'format' = 'csv'",
      "'csv.field-delimiter' = ';'",
      "'csv.quote-character' = ''''",
      "'csv.null-literal' = 'null'"
    };
    SqlSession strict =
        new SqlSession(flink, SqlMode.ON)
            .with(table("files", "millrace-filesystem", columns, options));
    assertThatThrownBy(() -> strict.rows("SELECT * FROM files"))
        .hasStackTraceContaining("column 'id': the value is not a valid INT");
    String lenient =
        table(
            "files",
            "millrace-filesystem",
            columns,
            Stream.concat(Stream.of(options), Stream.of("'csv.ignore-parse-errors' = 'true'"))
                .toArray(String[]::new));
    assertThat(new SqlSession(flink, SqlMode.ON).with(lenient).rows("SELECT * FROM files"))
        .containsOnlyKeys(Row.of(1, "a"), Row.of(3, "c;c"), Row.of(4, null));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'format' = 'orc' | Supported formats are: json, csv, raw, parquet, arrow",
        "'format' = 'json', 'csv.field-delimiter' = ';' | csv.field-delimiter",
        "'format' = 'json', 'json.timestamp-format.standard' = 'RFC' | 'json.timestamp-format.standard'",
        "'format' = 'json', 'json.fail-on-missing-field' = 'true' | only 'false' is",
        "'format' = 'json', 'json.map-null-key.mode' = 'DROP' | json.map-null-key.mode",
        "'format' = 'json', 'source.monitor-interval' = '1 s' | source.monitor-interval"
      })
  void whatIsNotSupportedIsRefused(String options, String message) {
    SqlSession session =
        new SqlSession(flink, SqlMode.ON)
            .with(table("files", "millrace-filesystem", "id INT", options));
    assertThatThrownBy(() -> session.plan("SELECT * FROM files")).hasStackTraceContaining(message);
  }

  @ParameterizedTest
  @CsvSource({"json, ON", "parquet, ON", "json, OFF"})
  void smallFilesAreJoined(String format, SqlMode mode) throws Exception {
    String[] options = {
      "'format' = '" + format + "'",
      "'auto-compaction' = 'true'",
      "'compaction.file-size' = '100 mb'",
      "'sink.parallelism' = '1'"
    };
    String table = table("files", "millrace-filesystem", BID_COLUMNS, options);
    session(mode, table).insert("INSERT INTO files SELECT * FROM bid");
    try (Stream<Path> files = Files.list(folder.resolve("files"))) {
      assertThat(files)
          .singleElement()
          .satisfies(file -> assertThat(file.getFileName().toString()).startsWith("compacted-"));
    }
    assertThat(session(mode, table).rows(QUERY.formatted("files"))).isEqualTo(expected());
  }

  @Test
  void twoSinksOfATableHaveUidsOfTheirOwn() throws Exception {
    String table =
        table(
            "files",
            "millrace-filesystem",
            "auction BIGINT",
            "'format' = 'json'",
            "'auto-compaction' = 'true'");
    session(SqlMode.ON, table)
        .with("SET 'table.exec.uid.generation' = 'ALWAYS'")
        .insert(
            "INSERT INTO files SELECT auction FROM bid WHERE price > 100",
            "INSERT INTO files SELECT auction FROM bid WHERE price <= 100");
    assertThat(session(SqlMode.ON, table).rows("SELECT * FROM files"))
        .isEqualTo(session(SqlMode.OFF).rows("SELECT auction FROM bid"));
  }

  @Test
  void twoSinksShareAScan() throws Exception {
    String options = "'format' = 'json'";
    SqlSession session =
        session(
            SqlMode.ON,
            table("files", "millrace-filesystem", "auction BIGINT, price BIGINT", options),
            table("dear", "millrace-filesystem", "channel STRING", options)
                .replace("/files", "/dear"));
    session.insert(
        "INSERT INTO files SELECT auction, price FROM bid WHERE price > 100",
        "INSERT INTO dear SELECT channel FROM bid WHERE price > 1000000");
    SqlSession stock = session(SqlMode.OFF);
    assertThat(session.rows("SELECT * FROM files"))
        .isEqualTo(stock.rows("SELECT auction, price FROM bid WHERE price > 100"));
    assertThat(session.rows("SELECT * FROM dear"))
        .isEqualTo(session(SqlMode.OFF).rows("SELECT channel FROM bid WHERE price > 1000000"));
  }

  @Test
  void rowsOfLiteralsBecomeABatch() throws Exception {
    String insert =
        "INSERT INTO files VALUES (1, 'a', TIMESTAMP '2026-01-02 03:04:05.67'), (2, CAST(NULL AS STRING), CAST(NULL AS TIMESTAMP(2)))";
    String table =
        table(
            "files",
            "millrace-filesystem",
            "id INT NOT NULL, name STRING, time_at TIMESTAMP(2)",
            "'format' = 'json'");
    SqlSession session = new SqlSession(flink, SqlMode.ON).with(table);
    assertThat(session.plan(insert))
        .contains("MillraceSink(", "MillraceCalc(", "MillraceValues(")
        .doesNotContain("in=[rows]");
    session.insert(insert);
    assertThat(lines())
        .containsExactlyInAnyOrder(
            "{\"id\":1,\"name\":\"a\",\"time_at\":\"2026-01-02 03:04:05.67\"}",
            "{\"id\":2,\"name\":null,\"time_at\":null}");
    assertThat(new SqlSession(flink, SqlMode.ON).plan("SELECT * FROM (VALUES (1), (2)) AS t(n)"))
        .contains("Values(")
        .doesNotContain("MillraceValues");
  }

  private List<String> lines() throws IOException {
    List<String> lines = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder.resolve("files"))) {
      for (Path file : files.toList()) {
        lines.addAll(Files.readAllLines(file));
      }
    }
    return lines;
  }

  @ParameterizedTest
  @ValueSource(strings = {"json", "csv", "parquet", "arrow"})
  void tablesWithMapsAreRefused(String format) {
    SqlSession session =
        session(
            SqlMode.ON,
            table(
                "maps",
                "millrace-filesystem",
                "id BIGINT, nested ROW<m MAP<STRING, INT>>",
                "'format' = '" + format + "'"));
    assertThatThrownBy(() -> session.plan("SELECT id FROM maps"))
        .hasStackTraceContaining(
            "column 'nested' has the type ROW<m MAP<STRING, INT>>: no format reads or writes a MAP");
  }

  @ParameterizedTest
  @ValueSource(strings = {"json", "csv", "parquet", "arrow"})
  void tablesWithBitmapsAreRefused(String format) {
    String columns = "id BIGINT, b BITMAP";
    String table = table("bitmaps", "millrace-filesystem", columns, "'format' = '" + format + "'");
    assertThatThrownBy(() -> session(SqlMode.ON, table).plan("SELECT id FROM bitmaps"))
        .hasStackTraceContaining(
            "column 'b' has the type BITMAP: no format reads or writes a BITMAP");
  }

  @Test
  void nullsInColumnsThatAreNotNullFailOrAreDropped() throws Exception {
    String table =
        table(
            "files",
            "millrace-filesystem",
            "auction BIGINT NOT NULL, channel STRING",
            "'format' = 'json'");
    String insert =
        "INSERT INTO files SELECT NULLIF(MOD(auction, 2), 1) * auction, channel FROM bid";
    SqlSession strict = session(SqlMode.ON, table);
    assertThat(strict.nodes(insert)).startsWith("MillraceSink", "MillraceCalc");
    assertThatThrownBy(() -> strict.insert(insert))
        .hasStackTraceContaining(
            "Column 'auction' is NOT NULL, however, a null value is being written into it.");
    session(SqlMode.ON, "SET 'table.exec.sink.not-null-enforcer' = 'DROP'", table).insert(insert);
    assertThat(session(SqlMode.ON, table).rows("SELECT auction, channel FROM files"))
        .isEqualTo(
            session(SqlMode.OFF)
                .rows(
                    "SELECT MOD(auction, 2) * auction, channel FROM bid WHERE MOD(auction, 2) = 0"));
  }
}
