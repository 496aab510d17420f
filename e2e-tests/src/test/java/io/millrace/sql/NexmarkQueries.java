// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.parity.aggregate.SqlWeightedAverage;
import io.millrace.sql.NexmarkTables.Content;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.types.Row;

/** Nexmark's queries in SQL, and a few more over its tables. */
public final class NexmarkQueries {
  private static final int EVENTS = 20_000;
  private static final String COUNTS_BY_PRICE =
      Stream.of("COUNT(*)", "COUNT(DISTINCT bidder)", "COUNT(DISTINCT auction)")
          .flatMap(
              count ->
                  Stream.of(
                      count,
                      count + " FILTER (WHERE price < 10000)",
                      count + " FILTER (WHERE price >= 10000 AND price < 1000000)",
                      count + " FILTER (WHERE price >= 1000000)"))
          .collect(Collectors.joining(", "));

  /** The function of q14, in Java alone and also in CUDA, and an aggregate function. */
  public static final List<String> FUNCTIONS =
      List.of(
          function("count_char", CountChar.class),
          function("count_char_on_device", CountCharOnDevice.class),
          function("weighted_average", SqlWeightedAverage.class));

  /** Statements that set mini-batches, as short as tests need them. */
  static final String[] MINI_BATCHES = {
    "SET 'table.exec.mini-batch.enabled' = 'true'",
    "SET 'table.exec.mini-batch.allow-latency' = '100 ms'",
    "SET 'table.exec.mini-batch.size' = '1000'"
  };

  private static final String BIDS_OF_EVENTS =
      "CREATE TEMPORARY VIEW bid AS SELECT bid.auction, bid.bidder, bid.price, bid.channel,"
          + " bid.url, date_time, bid.extra FROM events WHERE event_type = 2";

  private static final Map<String, String> QUERIES = new LinkedHashMap<>();

  static {
    QUERIES.put("q0", "SELECT auction, bidder, price, date_time, extra FROM bid");
    QUERIES.put("q1", "SELECT auction, bidder, 0.908 * price AS price, date_time, extra FROM bid");
    QUERIES.put("q2", "SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0");
    QUERIES.put(
        "q10",
        """
        SELECT auction, bidder, price, date_time, extra,
          DATE_FORMAT(date_time, 'yyyy-MM-dd'), DATE_FORMAT(date_time, 'HH:mm')
        FROM bid
        """);
    QUERIES.put(
        "q14",
        """
        SELECT auction, bidder, 0.908 * price AS price,
          CASE WHEN HOUR(date_time) >= 8 AND HOUR(date_time) <= 18 THEN 'dayTime'
            WHEN HOUR(date_time) <= 6 OR HOUR(date_time) >= 20 THEN 'nightTime'
            ELSE 'otherTime' END AS bidTimeType,
          date_time, extra, count_char(extra, 'c') AS c_counts
        FROM bid WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000
        """);
    QUERIES.put("q14OnDevice", sql("q14").replace("count_char", "count_char_on_device"));
    QUERIES.put(
        "q15",
        """
        SELECT DATE_FORMAT(date_time, 'yyyy-MM-dd') AS `day`, %s FROM bid
        GROUP BY DATE_FORMAT(date_time, 'yyyy-MM-dd')
        """
            .formatted(COUNTS_BY_PRICE));
    QUERIES.put(
        "q16",
        """
        SELECT channel, DATE_FORMAT(date_time, 'yyyy-MM-dd') AS `day`,
          MAX(DATE_FORMAT(date_time, 'HH:mm')) AS `minute`, %s FROM bid
        GROUP BY channel, DATE_FORMAT(date_time, 'yyyy-MM-dd')
        """
            .formatted(COUNTS_BY_PRICE));
    QUERIES.put(
        "q17",
        """
        SELECT auction, DATE_FORMAT(date_time, 'yyyy-MM-dd') AS `day`, COUNT(*) AS total_bids,
          COUNT(*) FILTER (WHERE price < 10000) AS rank1_bids,
          COUNT(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
          COUNT(*) FILTER (WHERE price >= 1000000) AS rank3_bids,
          MIN(price) AS min_price, MAX(price) AS max_price, AVG(price) AS avg_price,
          SUM(price) AS sum_price
        FROM bid GROUP BY auction, DATE_FORMAT(date_time, 'yyyy-MM-dd')
        """);
    QUERIES.put(
        "q21",
        """
        SELECT auction, bidder, price, channel,
          CASE WHEN lower(channel) = 'apple' THEN '0' WHEN lower(channel) = 'google' THEN '1'
            WHEN lower(channel) = 'facebook' THEN '2' WHEN lower(channel) = 'baidu' THEN '3'
            ELSE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) END AS channel_id
        FROM bid
        WHERE REGEXP_EXTRACT(url, '(&|^)channel_id=([^&]*)', 2) IS NOT NULL
          OR lower(channel) IN ('apple', 'google', 'facebook', 'baidu')
        """);
    QUERIES.put(
        "q22",
        """
        SELECT auction, bidder, price, channel, SPLIT_INDEX(url, '/', 3) AS dir1,
          SPLIT_INDEX(url, '/', 4) AS dir2, SPLIT_INDEX(url, '/', 5) AS dir3
        FROM bid
        """);
    QUERIES.put(
        "aggregate",
        "SELECT auction, COUNT(*) AS n, SUM(price) AS s FROM bid WHERE price > 100 GROUP BY auction");
    QUERIES.put(
        "urls",
        "SELECT bidder, LISTAGG(url, '; ') AS urls FROM bid WHERE price > 1000000 GROUP BY bidder");
    QUERIES.put("total", "SELECT COUNT(*) AS n, MAX(price) AS m FROM bid WHERE price > 100");
    QUERIES.put(
        "bidders",
        """
        SELECT auction, COUNT(*) AS n, COUNT(DISTINCT bidder) AS bidders, SUM(price) AS s,
          AVG(price) AS a
        FROM bid GROUP BY auction
        """);
    QUERIES.put(
        "deviation",
        "SELECT auction, STDDEV_POP(price) AS s, VAR_POP(CAST(price AS DOUBLE)) AS v FROM bid"
            + " WHERE MOD(auction, 7) = 0 GROUP BY auction");
    QUERIES.put("distinct", "SELECT DISTINCT auction, channel FROM bid WHERE price > 100");
    QUERIES.put(
        "distinctOfChanges",
        "SELECT DISTINCT n FROM (SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction)");
    QUERIES.put(
        "weighted",
        """
        SELECT auction, COUNT(*), weighted_average(price, CAST(MOD(bidder, 7) AS INT)),
          weighted_average(price + 1, 2) FILTER (WHERE channel = 'Google')
        FROM bid GROUP BY auction
        """);
    QUERIES.put(
        "weightedOfChanges",
        """
        SELECT n, weighted_average(s, CAST(auction AS INT))
        FROM (SELECT auction, COUNT(*) AS n, SUM(price) AS s FROM bid GROUP BY auction) GROUP BY n
        """);
    QUERIES.put(
        "weightedOfWindow",
        """
        SELECT window_start, weighted_average(price, 3)
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(date_time), INTERVAL '10' SECOND))
        GROUP BY window_start, window_end
        """);
    QUERIES.put(
        "nested",
        """
        SELECT n, COUNT(*) AS auctions, MAX(s) AS dearest, MIN(s) AS cheapest
        FROM (SELECT auction, COUNT(*) AS n, SUM(price) AS s FROM bid GROUP BY auction) GROUP BY n
        """);
    QUERIES.put(
        "q11",
        """
        SELECT bidder, COUNT(*) AS bid_count, SESSION_START(date_time, INTERVAL '10' SECOND) AS starttime,
          SESSION_END(date_time, INTERVAL '10' SECOND) AS endtime
        FROM bid GROUP BY bidder, SESSION(date_time, INTERVAL '10' SECOND)
        """);
    QUERIES.put(
        "q12",
        """
        SELECT bidder, COUNT(*) AS bid_count, window_start AS starttime, window_end AS endtime
        FROM TABLE(TUMBLE(TABLE timed, DESCRIPTOR(p_time), INTERVAL '10' SECOND))
        GROUP BY bidder, window_start, window_end
        """);
    QUERIES.put(
        "hop",
        """
        SELECT window_end, COUNT(*) AS n, MAX(price) AS m
        FROM TABLE(HOP(TABLE bid, DESCRIPTOR(date_time), INTERVAL '1' SECOND, INTERVAL '3' SECOND))
        GROUP BY window_start, window_end
        """);
    QUERIES.put(
        "cumulate",
        """
        SELECT channel, SUM(price) AS s, window_start, window_end, window_time
        FROM TABLE(
          CUMULATE(TABLE bid, DESCRIPTOR(date_time), INTERVAL '1' SECOND, INTERVAL '4' SECOND))
        GROUP BY channel, window_start, window_end, window_time
        """);
    QUERIES.put(
        "rowsOfTumble",
        """
        SELECT auction, price, window_start, window_end, window_time
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(date_time), INTERVAL '2' SECOND))
        """);
    QUERIES.put(
        "rowsOfHop",
        """
        SELECT auction, url, window_start, window_end, window_time FROM TABLE(
          HOP(TABLE bid, DESCRIPTOR(date_time), INTERVAL '2' SECOND, INTERVAL '5' SECOND,
            INTERVAL '1' SECOND))
        """);
    QUERIES.put(
        "rowsOfWideHop",
        """
        SELECT auction, bidder, window_start, window_end FROM TABLE(
          HOP(TABLE bid, DESCRIPTOR(date_time), INTERVAL '3' SECOND, INTERVAL '1' SECOND))
        """);
    QUERIES.put(
        "rowsOfCumulate",
        """
        SELECT auction, channel, window_start, window_end, window_time FROM TABLE(
          CUMULATE(TABLE bid, DESCRIPTOR(date_time), INTERVAL '1' SECOND, INTERVAL '4' SECOND,
            INTERVAL '1' SECOND))
        """);
    QUERIES.put(
        "rowsOfSession",
        """
        SELECT auction, bidder, window_start, window_end FROM TABLE(
          SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(date_time), INTERVAL '2' SECOND))
        """);
    QUERIES.put(
        "dearestOfWindow",
        """
        SELECT window_start, auction, bidder, price FROM (
          SELECT *, ROW_NUMBER() OVER (
            PARTITION BY window_start, window_end ORDER BY price DESC, auction, bidder, extra) AS n
          FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(date_time), INTERVAL '1' SECOND)))
        WHERE n <= 3
        """);
    QUERIES.put(
        "session",
        """
        SELECT COUNT(*) AS n, AVG(price) AS a, bidder, window_start, window_end
        FROM TABLE(
          SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(date_time), INTERVAL '2' SECOND))
        GROUP BY bidder, window_start, window_end
        """);
    QUERIES.put(
        "oldTumble",
        """
        SELECT channel, TUMBLE_ROWTIME(date_time, INTERVAL '2' SECOND) AS t, MIN(price) AS m
        FROM bid GROUP BY channel, TUMBLE(date_time, INTERVAL '2' SECOND)
        """);
    QUERIES.put(
        "window",
        """
        SELECT auction, COUNT(*) AS n, window_start
        FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(date_time), INTERVAL '1' SECOND))
        WHERE price > 100 GROUP BY auction, window_start, window_end
        """);
    QUERIES.put(
        "changelog",
        """
        SELECT auction * 2, n + 1
        FROM (SELECT auction, COUNT(*) AS n FROM bid GROUP BY auction) WHERE n > 3
        """);
    QUERIES.put(
        "rank",
        """
        SELECT auction * 2, price FROM (
          SELECT auction, price,
            ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price, date_time) AS n FROM bid)
        WHERE n = 1
        """);
    QUERIES.put(
        "q18",
        """
        SELECT auction, bidder, price, channel, url, date_time, extra FROM (
          SELECT *, ROW_NUMBER() OVER (PARTITION BY bidder, auction ORDER BY date_time DESC)
            AS rank_number FROM bid)
        WHERE rank_number <= 1
        """);
    QUERIES.put("lastTimes", "SELECT auction, bidder, date_time FROM (" + sql("q18") + ")");
    QUERIES.put("firstByTime", sql("q18").replace(" DESC", ""));
    QUERIES.put("lastToCome", sql("q18").replace("date_time DESC", "PROCTIME() DESC"));
    QUERIES.put("firstToCome", sql("q18").replace("date_time DESC", "PROCTIME()"));
    QUERIES.put("firstOfAll", sql("firstToCome").replace("PARTITION BY bidder, auction", ""));
    QUERIES.put("keysOfFirst", "SELECT auction, bidder FROM (" + sql("firstToCome") + ")");
    QUERIES.put(
        "bidsOfLast", "SELECT auction, COUNT(*) FROM (" + sql("q18") + ") GROUP BY auction");
    QUERIES.put(
        "groupingSets",
        """
        SELECT auction, channel, GROUPING(channel) AS g, COUNT(*) AS n, SUM(price) AS s, MAX(url) AS u
        FROM bid GROUP BY GROUPING SETS ((auction, channel), (channel), ())
        """);
    QUERIES.put(
        "rollupOfChanges",
        """
        SELECT parity, n, COUNT(*) AS auctions, SUM(s) AS s FROM (
          SELECT auction, MOD(auction, 2) AS parity, COUNT(*) AS n, SUM(price) AS s
          FROM bid GROUP BY auction)
        GROUP BY ROLLUP (parity, n)
        """);
    QUERIES.put(
        "union",
        """
        SELECT auction, price FROM bid WHERE price > 1000
        UNION ALL SELECT bidder AS id, CAST(NULL AS BIGINT) FROM bid WHERE MOD(auction, 7) = 0
        """);
    QUERIES.put(
        "fan",
        """
        WITH dear AS (SELECT auction, bidder, price FROM bid WHERE price > 100)
        SELECT dear.auction, dear.bidder, dear.price FROM dear
        JOIN (SELECT auction, MAX(price) AS price FROM dear GROUP BY auction) AS best
        ON dear.auction = best.auction AND dear.price = best.price
        """);
  }

  private NexmarkQueries() {}

  /** The text of a query. */
  public static String sql(String name) {
    return QUERIES.get(name);
  }

  /** A session with the table or view {@code bid}, and the functions of q14. */
  static SqlSession session(FlinkCluster cluster, SqlMode mode, Content content) {
    return add(new SqlSession(cluster, mode), content);
  }

  /** Adds to a session the table or view {@code bid}, and the functions of q14. */
  static SqlSession add(SqlSession session, Content content) {
    session.with(FUNCTIONS.toArray(String[]::new));
    return content.hasEvents()
        ? session.with(content.createTable("events", EVENTS), BIDS_OF_EVENTS)
        : session.with(content.createTable("bid", EVENTS));
  }

  /**
   * Adds to a session the functions, and the view {@code bid} of the table that the benchmark's
   * authors define: the time of an event is a column that is computed from the ROW of its kind.
   * Options are Millrace's defaults.
   */
  static SqlSession sessionOfComputedTimes(SqlSession session) {
    String events =
        Content.EVENT_BATCHES
            .createTable("events", EVENTS)
            .replace(
                "`date_time` TIMESTAMP(3) NOT NULL, WATERMARK",
                "date_time AS CASE WHEN event_type = 0 THEN person.date_time"
                    + " WHEN event_type = 1 THEN auction.date_time ELSE bid.date_time END,"
                    + " WATERMARK");
    return session
        .with(FUNCTIONS.toArray(String[]::new))
        .with(events, BIDS_OF_EVENTS, "SET 'millrace.sql.replace-cheap-nodes' = 'false'");
  }

  /** A session whose rows have an instant beside their local time, with watermarks of it. */
  static SqlSession sessionOfInstants(FlinkCluster cluster, SqlMode mode, Content content) {
    return new SqlSession(cluster, mode)
        .with(
            content
                .createTable("bid", EVENTS)
                .replace(
                    "WATERMARK FOR date_time AS date_time",
                    "instant AS CAST(date_time AS TIMESTAMP_LTZ(3)),"
                        + " WATERMARK FOR instant AS instant"),
            "SET 'table.local-time-zone' = 'Europe/Berlin'");
  }

  /** The names of nodes that stand in a text, with a star before Millrace's. */
  static List<String> nodes(String text) {
    return Arrays.stream(text.split(" ")).map(node -> node.replace("*", "Millrace")).toList();
  }

  /**
   * Runs a query in both sessions; its rows must be the same.
   *
   * @param nodes of Millrace's plan, from the sink to the sources, as {@link #nodes} reads them
   */
  static void compare(String name, SqlSession millrace, String nodes, SqlSession stock)
      throws Exception {
    String query = sql(name);
    assertThat(millrace.nodes(query)).isEqualTo(nodes(nodes));
    Map<Row, Integer> rows = millrace.rows(query);
    Map<Row, Integer> ofStock = stock.rows(query);
    assertThat(ofStock).isNotEmpty();
    assertThat(rows).isEqualTo(ofStock);
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
  }

  private static String function(String name, Class<?> function) {
    return "CREATE FUNCTION %s AS '%s'".formatted(name, function.getName());
  }
}
