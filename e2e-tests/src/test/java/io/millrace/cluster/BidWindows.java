// SPDX-License-Identifier: Apache-2.0
package io.millrace.cluster;

import io.millrace.postgres.Sql;
import io.millrace.process.CommittedFiles;
import io.millrace.services.Database;
import io.millrace.services.KafkaTopic;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.duckdb.DuckDBDriver;
import org.postgresql.PGConnection;

/**
 * Bids, some of which are malformed, and their windows of ten seconds for each auction: as SQL
 * counts them over all bids that were made, and as sinks hold them, a line of JSON each.
 */
final class BidWindows {
  private static final LocalDateTime START = LocalDateTime.parse("2026-01-01T00:00:00");
  private static final Duration ROUND = Duration.ofSeconds(60);
  private static final int MAX_DISORDER_MILLIS = 4_000;
  private static final int BIDS_IN = 20_000;

  private static final String EXPECTED =
      "SELECT auction, COUNT(*) AS bids, MAX(price) AS highest, SUM(price)::bigint AS total,"
          + " date_bin('10 s', ts, '2026-01-01') AS window_start,"
          + " date_bin('10 s', ts, '2026-01-01') + interval '10 s' AS window_end"
          + " FROM raw_bids WHERE price > 200 GROUP BY auction, window_start";

  private final Database database;
  private final Sql sql;
  private final List<String> malformed = new ArrayList<>();
  private int rounds;

  /** Creates the tables of bids and of windows. */
  BidWindows(Database database) throws SQLException {
    this.database = database;
    this.sql = new Sql(database);
    sql.execute(
        "CREATE TABLE raw_bids (auction bigint, price bigint, ts timestamp(3))",
        "CREATE TABLE bid_windows (auction bigint NOT NULL, bids bigint NOT NULL, highest bigint,"
            + " total bigint, window_start timestamp(3) NOT NULL, window_end timestamp(3) NOT"
            + " NULL, PRIMARY KEY (auction, window_start))");
  }

  /**
   * Makes the bids of the next minute of event time, whose first 24 seconds have bids, and writes
   * those that are well formed to PostgreSQL.
   *
   * @return the bids as JSON, in the order of their arrival
   */
  List<String> next(int count, Random random) throws Exception {
    LocalDateTime start = START.plus(ROUND.multipliedBy(rounds++));
    List<String> bids = new ArrayList<>();
    StringBuilder raw = new StringBuilder();
    for (int i = 0; i < count; i++) {
      long auction = random.nextInt(50);
      long price = random.nextInt(1000);
      LocalDateTime time =
          start.plus(
              Duration.ofMillis((long) i * BIDS_IN / count + random.nextInt(MAX_DISORDER_MILLIS)));
      String bid = json(auction, price, time);
      if (random.nextInt(1000) == 0) {
        bid = poisoned(bid, random);
        malformed.add(bid);
      } else {
        raw.append(auction).append(',').append(price).append(',').append(time).append('\n');
      }
      bids.add(bid);
    }
    try (Connection connection = database.connect()) {
      connection
          .unwrap(PGConnection.class)
          .getCopyAPI()
          .copyIn(
              "COPY raw_bids FROM STDIN (FORMAT csv)",
              new ByteArrayInputStream(raw.toString().getBytes(StandardCharsets.UTF_8)));
    }
    return bids;
  }

  private static String json(long auction, long price, LocalDateTime time) {
    return "{\"auction\": %d, \"price\": %d, \"ts\": \"%s\", \"channel\": {\"name\": \"x\"}}"
        .formatted(auction, price, time.toString().replace('T', ' '));
  }

  private String poisoned(String bid, Random random) {
    String number = "poisoned" + malformed.size();
    return switch (random.nextInt(5)) {
      case 0 -> bid.substring(0, 1 + random.nextInt(bid.length() - 1));
      case 1 -> bid.replace("\"price\": ", "\"price\": " + number);
      case 2 -> bid.replace("\"price\": ", "\"price\": 99999999999999999999");
      case 3 -> bid.replace("\"ts\": \"", "\"ts\": \"" + number);
      default -> number;
    };
  }

  /** For each partition a bid that is filtered out and ends all windows so far. */
  List<ProducerRecord<String, String>> windowEnds(KafkaTopic topic) {
    LocalDateTime end = START.plus(ROUND.multipliedBy(rounds)).minusSeconds(20);
    List<ProducerRecord<String, String>> records = new ArrayList<>();
    for (int partition = 0; partition < topic.partitions(); partition++) {
      records.add(new ProducerRecord<>(topic.name(), partition, null, json(0, 0, end)));
    }
    return records;
  }

  /** The bids that are malformed. */
  List<String> malformed() {
    return List.copyOf(malformed);
  }

  /** How many windows the bids have. */
  long expectedCount() throws SQLException {
    return sql.number("SELECT COUNT(*) FROM (" + EXPECTED + ") AS expected");
  }

  /** The windows of the bids. */
  List<String> expected() throws SQLException {
    return sql.strings(
        "SELECT " + line("to_char(%s, 'YYYY-MM-DD\"T\"HH24:MI:SS.MS')") + inParentheses(EXPECTED));
  }

  /** The windows in PostgreSQL. */
  List<String> inPostgres() throws SQLException {
    return sql.strings(
        "SELECT " + line("to_char(%s, 'YYYY-MM-DD\"T\"HH24:MI:SS.MS')") + " FROM bid_windows");
  }

  /** The windows in Parquet files, which DuckDB reads. */
  static List<String> inParquet(Path folder) throws Exception {
    List<String> lines = new ArrayList<>();
    String files =
        CommittedFiles.in(folder).stream()
            .map(file -> "'" + file + "'")
            .collect(Collectors.joining(", "));
    if (files.isEmpty()) {
      return lines;
    }
    String query =
        "SELECT "
            + line("strftime(%s, '%%Y-%%m-%%dT%%H:%%M:%%S.%%g')")
            + " FROM read_parquet(["
            + files
            + "])";
    try (Connection connection = new DuckDBDriver().connect("jdbc:duckdb:", new Properties());
        Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(query)) {
      while (result.next()) {
        lines.add(result.getString(1));
      }
    }
    return lines;
  }

  private static String inParentheses(String query) {
    return " FROM (" + query + ") AS windows";
  }

  /** SQL of a row as a line of JSON, given the SQL of a time as text. */
  private static String line(String time) {
    return "'{\"auction\":' || auction || ',\"bids\":' || bids || ',\"highest\":' || highest"
        + " || ',\"total\":' || total || ',\"window_start\":\"' || "
        + time.formatted("window_start")
        + " || '\",\"window_end\":\"' || "
        + time.formatted("window_end")
        + " || '\"}'";
  }
}
