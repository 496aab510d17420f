// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.sql.NexmarkTables.Content;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tables of files with partitions, and with a limit. */
@ExtendWith(NothingHeldExtension.class)
class FilePartitionsTest {
  private static final int BIDS = 3_000;
  private static final String COLUMNS =
      "auction BIGINT, name STRING, third INT, price BIGINT, dear BOOLEAN";
  private static final String ROWS =
      """
      SELECT auction,
        CASE MOD(auction, 5) WHEN 0 THEN CAST(NULL AS STRING) WHEN 1 THEN '' WHEN 2 THEN 'a/b=c%d{e}' ELSE 'é x' END,
        CAST(MOD(bidder, 3) AS INT), price, price > 1000
      FROM bid
      """;
  private static final String INSERT = "INSERT INTO files " + ROWS;

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  @TempDir Path folder;

  private String table(String connector, String options) {
    return table(connector, COLUMNS, "PARTITIONED BY (name, third)", options);
  }

  private String table(String connector, String columns, String partitions, String options) {
    return "CREATE TEMPORARY TABLE files (%s) %s WITH ('connector' = '%s', 'path' = '%s', %s)"
        .formatted(columns, partitions, connector, folder.resolve("files").toUri(), options);
  }

  private static SqlSession session(SqlMode mode, String... statements) {
    Content content = mode == SqlMode.ON ? Content.BID_BATCHES : Content.BID_ROWS;
    return new SqlSession(flink, mode).with(content.createTable("bid", BIDS)).with(statements);
  }

  // An empty string has the folder of NULL.
  private static Map<Row, Integer> expected(String columns, String condition) throws Exception {
    return session(SqlMode.OFF)
        .rows(
            """
            SELECT %s FROM (SELECT auction, IF(name = '', CAST(NULL AS STRING), name) AS name, third, price, dear
              FROM (%s) AS rows_of_bids(auction, name, third, price, dear))
            WHERE %s
            """
                .formatted(columns, ROWS, condition));
  }

  private List<String> folders() throws IOException {
    try (Stream<Path> paths = Files.walk(folder.resolve("files"))) {
      return paths
          .filter(Files::isDirectory)
          .map(path -> folder.resolve("files").relativize(path).toString())
          .filter(path -> path.contains("/"))
          .sorted()
          .toList();
    }
  }

  @ParameterizedTest
  @CsvSource({"json, ON", "csv, ON", "parquet, ON", "arrow, ON", "json, OFF", "parquet, OFF"})
  void partitionsAreReadAsTheyWereWritten(String format, SqlMode mode) throws Exception {
    String table = table("millrace-filesystem", "'format' = '" + format + "'");
    SqlSession writing = session(mode, table);
    if (mode == SqlMode.ON) {
      assertThat(writing.plan(INSERT)).doesNotContain("in=[rows]");
    }
    writing.insert(INSERT);
    assertThat(folders())
        .containsExactlyElementsOf(
            Stream.of("__DEFAULT_PARTITION__", "a%2Fb%3Dc%25d%7Be%7D", "é x")
                .flatMap(
                    name -> Stream.of(0, 1, 2).map(third -> "name=" + name + "/third=" + third))
                .sorted()
                .toList());
    assertThat(session(mode, table).rows("SELECT * FROM files")).isEqualTo(expected("*", "TRUE"));
    assertThat(session(mode, table).rows("SELECT third, name FROM files"))
        .isEqualTo(expected("third, name", "TRUE"));
    String columns = "price, name, dear";
    String condition = "name = 'é x' AND third > 0 AND auction > 1010";
    SqlSession reading = session(mode, table);
    String query = "SELECT %s FROM files WHERE %s".formatted(columns, condition);
    assertThat(reading.plan(query))
        .contains("partitions=[{name=é x, third=1}, {name=é x, third=2}]");
    assertThat(reading.rows(query)).isEqualTo(expected(columns, condition));
    assertThat(session(mode, table).rows("SELECT COUNT(*) FROM files WHERE third = 1"))
        .isEqualTo(expected("COUNT(*)", "third = 1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"json", "csv"})
  void flinkReadsPartitionsThatAreWritten(String format) throws Exception {
    String option = "'format' = '" + format + "'";
    session(SqlMode.ON, table("millrace-filesystem", option)).insert(INSERT);
    // Flink's source fails at the folder of NULL.
    assertThat(
            session(SqlMode.OFF, table("filesystem", option))
                .rows("SELECT * FROM files WHERE name <> ''"))
        .isEqualTo(expected("*", "name <> ''"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"json", "csv"})
  void partitionsThatFlinkWritesAreRead(String format) throws Exception {
    String option = "'format' = '" + format + "'";
    session(SqlMode.OFF, table("filesystem", option)).insert(INSERT);
    List<String> folders = folders();
    assertThat(
            session(SqlMode.ON, table("millrace-filesystem", option)).rows("SELECT * FROM files"))
        .isEqualTo(expected("*", "TRUE"));
    Files.move(folder.resolve("files"), folder.resolve("flink"));
    session(SqlMode.ON, table("millrace-filesystem", option)).insert(INSERT);
    assertThat(folders()).isEqualTo(folders);
  }

  @Test
  void aStaticPartitionIsWritten() throws Exception {
    String table =
        table(
            "millrace-filesystem",
            "auction BIGINT, added DATE, flag STRING",
            "PARTITIONED BY (added, flag)",
            "'format' = 'json', 'partition.default-name' = 'none'");
    SqlSession writing = session(SqlMode.ON, table);
    assertThat(
            writing.plan(
                "INSERT INTO files PARTITION (flag = 'x') SELECT auction, CURRENT_DATE FROM bid"))
        .contains("MillraceSink(")
        .doesNotContain("in=[rows]");
    writing.insert(
        "INSERT INTO files PARTITION (added = '2026-11-26', flag = 'true') SELECT auction FROM bid WHERE auction < 1100",
        "INSERT INTO files PARTITION (added = '2026-11-27') SELECT auction, CAST(NULL AS STRING) FROM bid WHERE auction < 1100");
    assertThat(folders())
        .containsExactly("added=2026-11-26/flag=true", "added=2026-11-27/flag=none");
    Map<Row, Integer> rows =
        session(SqlMode.ON, table)
            .rows(
                "SELECT auction, added FROM files WHERE flag IS NULL AND added > DATE '2026-11-26'");
    assertThat(rows)
        .isEqualTo(
            session(SqlMode.OFF)
                .rows("SELECT auction, DATE '2026-11-27' FROM bid WHERE auction < 1100"));
  }

  @Test
  void noPartitionIsLeft() throws Exception {
    String table = table("millrace-filesystem", "'format' = 'json'");
    session(SqlMode.ON, table).insert(INSERT);
    for (SqlMode mode : List.of(SqlMode.ON, SqlMode.OFF)) {
      assertThat(session(mode, table).rows("SELECT * FROM files WHERE third = 7")).isEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"json", "parquet"})
  void filesOfAPartitionAreJoined(String format) throws Exception {
    String options =
        "'auto-compaction' = 'true', 'compaction.file-size' = '100 mb', 'format' = '"
            + format
            + "'";
    assertThatThrownBy(
            () -> session(SqlMode.ON, table("millrace-filesystem", options)).insert(INSERT))
        .hasStackTraceContaining("write without compaction");
    Files.move(folder.resolve("files"), folder.resolve("failed"));
    String table = table("millrace-filesystem", COLUMNS, "PARTITIONED BY (third, dear)", options);
    session(SqlMode.ON, table)
        .insert(INSERT.replace("'a/b=c%d{e}'", "'b'").replace("'é x'", "'c'"));
    for (String partition : folders()) {
      try (Stream<Path> files = Files.list(folder.resolve("files").resolve(partition))) {
        assertThat(files)
            .singleElement()
            .satisfies(file -> assertThat(file.getFileName().toString()).startsWith("compacted-"));
      }
    }
    assertThat(session(SqlMode.ON, table).rows("SELECT auction, third, price, dear FROM files"))
        .isEqualTo(expected("auction, third, price, dear", "TRUE"));
  }

  @Test
  void whatIsNotAPartitionIsRefused() throws Exception {
    assertThatThrownBy(
            () ->
                session(
                        SqlMode.ON,
                        table(
                            "millrace-filesystem",
                            "id INT, part DOUBLE",
                            "PARTITIONED BY (part)",
                            "'format' = 'json'"))
                    .plan("SELECT * FROM files"))
        .hasStackTraceContaining(
            "expected STRING, BOOLEAN, an integer or DATE for the partition key 'part', got DOUBLE");
    Path partition = Files.createDirectories(folder.resolve("files").resolve("part=x"));
    Files.writeString(partition.resolve("rows.jsonl"), "{\"id\": 1}\n");
    assertThatThrownBy(
            () ->
                session(
                        SqlMode.ON,
                        table(
                            "millrace-filesystem",
                            "id INT, part INT",
                            "PARTITIONED BY (part)",
                            "'format' = 'json'"))
                    .rows("SELECT * FROM files"))
        .hasStackTraceContaining("part=x: 'x' is not a valid INT");
  }

  private SqlSession tableOfFolders(
      SqlMode mode, String keyType, List<String> folders, String options) throws IOException {
    for (String each : folders) {
      Path partition = Files.createDirectories(folder.resolve("files").resolve(each));
      Files.writeString(
          partition.resolve("rows.jsonl"), "{\"id\": %d}%n".formatted(folders.indexOf(each)));
    }
    return session(
        mode,
        table(
            "millrace-filesystem",
            "id INT, part " + keyType,
            "PARTITIONED BY (part)",
            "'format' = 'json'" + options));
  }

  @ParameterizedTest
  @EnumSource(
      value = SqlMode.class,
      names = {"ON", "OFF"})
  void conditionsOverBooleanKeysAreEvaluated(SqlMode mode) throws Exception {
    SqlSession session = tableOfFolders(mode, "BOOLEAN", List.of("part=true", "part=false"), "");
    assertThat(session.rows("SELECT id FROM files WHERE part")).containsOnlyKeys(Row.of(0));
    assertThat(session.rows("SELECT part FROM files WHERE id = 1")).containsOnlyKeys(Row.of(false));
  }

  @ParameterizedTest
  @EnumSource(
      value = SqlMode.class,
      names = {"ON", "OFF"})
  void datesAreReadInBothForms(SqlMode mode) throws Exception {
    SqlSession session =
        tableOfFolders(mode, "DATE", List.of("part=2026-11-26", "part=20783", "part=20784"), "");
    String query = "SELECT id FROM files WHERE part = DATE '2026-11-26'";
    assertThat(session.plan(query)).contains("partitions=[{part=2026-11-26}]");
    assertThat(session.rows(query)).containsOnlyKeys(Row.of(0), Row.of(1));
    assertThat(session.rows("SELECT id, part FROM files"))
        .containsKey(Row.of(2, LocalDate.of(2026, 11, 27)));
  }

  @Test
  void theFolderOfNullHasEmptyStringsIfThereAreNoNulls() throws Exception {
    SqlSession session =
        tableOfFolders(
            SqlMode.ON,
            "STRING NOT NULL",
            List.of("part=none", "part=a"),
            ", 'partition.default-name' = 'none'");
    assertThat(session.rows("SELECT id, part FROM files"))
        .containsOnlyKeys(Row.of(0, ""), Row.of(1, "a"));
    assertThat(session.rows("SELECT id FROM files WHERE part = ''")).containsOnlyKeys(Row.of(0));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "BOOLEAN | part=yes | 'yes' is not a valid BOOL",
        "DATE | part=x | 'x' is not a valid DATE",
        "INT NOT NULL | part=__DEFAULT_PARTITION__ | is not a valid INT NOT NULL"
      })
  void valuesThatAKeyCannotHaveFailTheQuery(String type, String name, String message)
      throws Exception {
    SqlSession session = tableOfFolders(SqlMode.ON, type, List.of(name), "");
    assertThatThrownBy(() -> session.rows("SELECT * FROM files WHERE part IS NOT NULL"))
        .hasStackTraceContaining(name)
        .hasStackTraceContaining(message);
  }

  @Test
  void whatIsNoFolderOfAPartitionIsLeftOut() throws Exception {
    SqlSession session =
        tableOfFolders(SqlMode.ON, "INT", List.of("part=0", "_part=1", "other=2", "part"), "");
    Files.writeString(folder.resolve("files/part=5"), "a file");
    assertThat(session.rows("SELECT id FROM files WHERE part < 9")).containsOnlyKeys(Row.of(0));
    Files.createSymbolicLink(folder.resolve("files/part=4"), folder.resolve("nowhere"));
    assertThatThrownBy(() -> session.rows("SELECT id FROM files WHERE part < 8"))
        .hasStackTraceContaining("files cannot be listed")
        .hasStackTraceContaining("part=4");
  }

  @ParameterizedTest
  @CsvSource({"json, ON", "json, OFF"})
  void readersStopBehindALimit(String format, SqlMode mode) throws Exception {
    Files.createDirectory(folder.resolve("files"));
    String rows =
        Stream.iterate(0, id -> id + 1)
            .limit(20_000)
            .map(id -> "{\"id\": " + id + "}\n")
            .collect(Collectors.joining());
    Files.writeString(folder.resolve("files").resolve("rows.jsonl"), rows + "malformed\n");
    String table = table("millrace-filesystem", "id INT", "", "'format' = '" + format + "'");
    String query = "SELECT * FROM files LIMIT 7";
    assertThat(session(mode, table).plan(query)).contains("limit=[7]");
    assertThat(session(mode, table).rows(query)).hasSize(7);
    assertThatThrownBy(() -> session(mode, table).rows("SELECT * FROM files"))
        .hasStackTraceContaining("malformed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"json", "parquet", "arrow"})
  void aLimitOfManyFilesInPartitionsHasItsRows(String format) throws Exception {
    String table = table("millrace-filesystem", "'format' = '" + format + "'");
    session(SqlMode.ON, table).insert(INSERT);
    for (String limit : List.of("7", "2000", "100 OFFSET 2950")) {
      String query = "SELECT auction, third FROM files LIMIT " + limit;
      int rows = limit.equals("100 OFFSET 2950") ? 50 : Integer.parseInt(limit);
      assertThat(size(session(SqlMode.ON, table).rows(query))).as(query).isEqualTo(rows);
    }
    assertThat(
            size(
                session(SqlMode.ON, table).rows("SELECT third FROM files WHERE third = 1 LIMIT 5")))
        .isEqualTo(5);
  }

  private static int size(Map<Row, Integer> rows) {
    return rows.values().stream().mapToInt(Integer::intValue).sum();
  }

  /** The planner adds the two numbers as INTs. */
  @ParameterizedTest
  @ValueSource(strings = {"millrace-filesystem", "millrace-nexmark"})
  void anOffsetBelowTheGreatestLimitIsNoLimit(String connector) throws Exception {
    String table =
        connector.equals("millrace-nexmark")
            ? "CREATE TEMPORARY TABLE files (event_type INT) WITH ('connector' = 'millrace-nexmark', 'events.num' = '3')"
            : table(connector, "event_type INT", "", "'format' = 'json'");
    Files.createDirectories(folder.resolve("files"));
    Files.writeString(folder.resolve("files/rows.jsonl"), "{\"event_type\": 1}\n".repeat(3));
    assertThat(
            size(session(SqlMode.ON, table).rows("SELECT * FROM files LIMIT 2147483647 OFFSET 1")))
        .isEqualTo(2);
  }
}
