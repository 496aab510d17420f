// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.sql.NexmarkTables.Content;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.LookupTableSource;
import org.apache.flink.table.connector.source.lookup.LookupFunctionProvider;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.functions.LookupFunction;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Nexmark's queries with joins, rankings and patterns, unchanged, over the events of {@code
 * millrace-nexmark}: these nodes and exchanges in front of joins stay Flink's, the others are
 * replaced, and the rows are Flink's. q6 is refused by Flink.
 */
class NexmarkJoinsSqlTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final String MILLRACE = "Millrace";
  private static final Map<String, String> COUNTS = new LinkedHashMap<>();
  private static final Map<String, String> REPLACED =
      Map.ofEntries(
          Map.entry("q3", "6 of 12"),
          Map.entry("q4", "11 of 17"),
          Map.entry("q5", "8 of 15"),
          Map.entry("q7", "9 of 13"),
          Map.entry("q8", "12 of 18"),
          Map.entry("q9", "7 of 14"),
          Map.entry("q13", "4 of 5"),
          Map.entry("q19", "5 of 6"),
          Map.entry("q20", "6 of 12"),
          Map.entry("cepq0", "4 of 5"),
          Map.entry("cepq1", "4 of 5"),
          Map.entry("cepq2", "4 of 5"),
          Map.entry("cepq3", "4 of 5"));
  private static final Map<String, String> QUERIES = new LinkedHashMap<>();

  static {
    QUERIES.put(
        "q3",
        """
        SELECT p.name, p.city, p.state, a.id FROM auction AS a INNER JOIN person AS p ON a.seller = p.id
        WHERE a.category = 10 AND (p.state = 'OR' OR p.state = 'ID' OR p.state = 'CA')
        """);
    QUERIES.put(
        "q4",
        """
        SELECT category, AVG(final) FROM (
          SELECT MAX(b.price) AS final, a.category FROM auction a, bid b
          WHERE a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires
          GROUP BY a.id, a.category)
        GROUP BY category
        """);
    QUERIES.put(
        "q5",
        """
        SELECT bids.auction, bids.num FROM (
          SELECT auction, COUNT(*) AS num, window_start AS starttime, window_end AS endtime
          FROM TABLE(HOP(TABLE bid, DESCRIPTOR(date_time), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
          GROUP BY auction, window_start, window_end) AS bids
        JOIN (
          SELECT MAX(num) AS maxn, starttime, endtime FROM (
            SELECT COUNT(*) AS num, window_start AS starttime, window_end AS endtime
            FROM TABLE(HOP(TABLE bid, DESCRIPTOR(date_time), INTERVAL '2' SECOND, INTERVAL '10' SECOND))
            GROUP BY auction, window_start, window_end)
          GROUP BY starttime, endtime) AS hottest
        ON bids.starttime = hottest.starttime AND bids.endtime = hottest.endtime
          AND bids.num >= hottest.maxn
        """);
    QUERIES.put(
        "q7",
        """
        SELECT b.auction, b.price, b.bidder, b.date_time, b.extra FROM bid b JOIN (
          SELECT MAX(price) AS maxprice, window_end AS date_time
          FROM TABLE(TUMBLE(TABLE bid, DESCRIPTOR(date_time), INTERVAL '10' SECOND))
          GROUP BY window_start, window_end) b1
        ON b.price = b1.maxprice
        WHERE b.date_time BETWEEN b1.date_time - INTERVAL '10' SECOND AND b1.date_time
        """);
    QUERIES.put(
        "q8",
        """
        SELECT p.id, p.name, p.starttime FROM (
          SELECT id, name, window_start AS starttime, window_end AS endtime
          FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(date_time), INTERVAL '10' SECOND))
          GROUP BY id, name, window_start, window_end) p
        JOIN (
          SELECT seller, window_start AS starttime, window_end AS endtime
          FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(date_time), INTERVAL '10' SECOND))
          GROUP BY seller, window_start, window_end) a
        ON p.id = a.seller AND p.starttime = a.starttime AND p.endtime = a.endtime
        """);
    QUERIES.put(
        "q9",
        """
        SELECT id, item_name, seller, category, auction, bidder, price, bid_date_time FROM (
          SELECT a.*, b.auction, b.bidder, b.price, b.date_time AS bid_date_time,
            ROW_NUMBER() OVER (PARTITION BY a.id ORDER BY b.price DESC, b.date_time) AS rownum
          FROM auction a, bid b
          WHERE a.id = b.auction AND b.date_time BETWEEN a.date_time AND a.expires)
        WHERE rownum <= 1
        """);
    QUERIES.put(
        "q13",
        """
        SELECT b.auction, b.bidder, b.price, b.date_time, s.`value`
        FROM (SELECT *, PROCTIME() AS p_time FROM bid) b
        JOIN side_input FOR SYSTEM_TIME AS OF b.p_time AS s ON MOD(b.auction, 10000) = s.key
        """);
    QUERIES.put(
        "q19",
        """
        SELECT * FROM (
          SELECT *, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS rank_number
          FROM bid)
        WHERE rank_number <= 10
        """);
    QUERIES.put(
        "q20",
        """
        SELECT auction, bidder, price, channel, url, b.date_time, b.extra, item_name, initial_bid,
          a.date_time, expires, seller, category, a.extra
        FROM bid AS b INNER JOIN auction AS a ON b.auction = a.id WHERE a.category = 10
        """);
    QUERIES.put(
        "cepq0",
        """
        SELECT auction, bidder, start_tstamp, bottom_tstamp, end_tstamp FROM bid MATCH_RECOGNIZE (
          PARTITION BY auction, bidder ORDER BY date_time
          MEASURES START_ROW.date_time AS start_tstamp, LAST(PRICE_DOWN.date_time) AS bottom_tstamp,
            LAST(PRICE_UP.date_time) AS end_tstamp
          ONE ROW PER MATCH AFTER MATCH SKIP TO LAST PRICE_UP
          PATTERN (START_ROW PRICE_DOWN+ PRICE_UP)
          DEFINE
            PRICE_DOWN AS
              (LAST(PRICE_DOWN.price, 1) IS NULL AND PRICE_DOWN.price < START_ROW.price)
                OR PRICE_DOWN.price < LAST(PRICE_DOWN.price, 1),
            PRICE_UP AS PRICE_UP.price > LAST(PRICE_DOWN.price, 1))
        """);
    QUERIES.put("cepq1", averagePrices("SKIP PAST LAST ROW"));
    QUERIES.put("cepq2", averagePrices("SKIP TO NEXT ROW"));
    QUERIES.put(
        "cepq3",
        """
        SELECT auction, bidder, drop_time, drop_diff FROM bid MATCH_RECOGNIZE (
          PARTITION BY auction, bidder ORDER BY date_time
          MEASURES C.date_time AS drop_time, A.price - C.price AS drop_diff
          ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
          PATTERN (A B* C) WITHIN INTERVAL '5' SECOND
          DEFINE B AS B.price > A.price - 50, C AS C.price < A.price - 50)
        """);
  }

  private static String averagePrices(String afterMatch) {
    return """
        SELECT auction, bidder, start_tstamp, end_tstamp, avg_price FROM bid MATCH_RECOGNIZE (
          PARTITION BY auction, bidder ORDER BY date_time
          MEASURES FIRST(A.date_time) AS start_tstamp, LAST(A.date_time) AS end_tstamp,
            AVG(A.price) AS avg_price
          ONE ROW PER MATCH AFTER MATCH %s
          PATTERN (A+ B)
          DEFINE A AS AVG(A.price) < 10000)
        """
        .formatted(afterMatch);
  }

  /** A table to look up: each key up to 10000 has a value. */
  public static final class SideInput implements DynamicTableSourceFactory {
    @Override
    public String factoryIdentifier() {
      return "side-input";
    }

    @Override
    public Set<ConfigOption<?>> requiredOptions() {
      return Set.of();
    }

    @Override
    public Set<ConfigOption<?>> optionalOptions() {
      return Set.of();
    }

    @Override
    public DynamicTableSource createDynamicTableSource(Context context) {
      return new Values();
    }
  }

  private static final class Values implements LookupTableSource {
    @Override
    public LookupRuntimeProvider getLookupRuntimeProvider(LookupContext context) {
      return LookupFunctionProvider.of(new ValueOfKey());
    }

    @Override
    public DynamicTableSource copy() {
      return new Values();
    }

    @Override
    public String asSummaryString() {
      return "side input";
    }
  }

  /** Gives the row of a key. */
  public static final class ValueOfKey extends LookupFunction {
    private static final long serialVersionUID = 1L;

    @Override
    public Collection<RowData> lookup(RowData keys) {
      long key = keys.getLong(0);
      return List.of(GenericRowData.of(key, StringData.fromString("value " + key)));
    }
  }

  static Stream<String> queries() {
    return QUERIES.keySet().stream();
  }

  // Rows with the same price and time have an order in one subtask alone.
  private static SqlSession session(SqlMode mode) {
    return NexmarkQueries.session(flink, mode, Content.EVENT_BATCHES)
        .with(
            "SET 'table.exec.resource.default-parallelism' = '1'",
            "CREATE TEMPORARY TABLE side_input (key BIGINT, `value` STRING)"
                + " WITH ('connector' = 'side-input')",
            """
            CREATE TEMPORARY VIEW person AS
            SELECT person.id, person.name, person.city, person.state, date_time
            FROM events WHERE event_type = 0
            """,
            """
            CREATE TEMPORARY VIEW auction AS
            SELECT auction.id, auction.item_name, auction.initial_bid,
              auction.seller, auction.category, auction.expires, auction.extra, date_time
            FROM events WHERE event_type = 1
            """);
  }

  @ParameterizedTest
  @MethodSource("queries")
  void rowsAreFlinks(String name) throws Exception {
    String query = QUERIES.get(name);
    SqlSession millrace = session(SqlMode.ON);
    List<String> nodes = millrace.nodes(query);
    long replaced = nodes.stream().filter(node -> node.startsWith(MILLRACE)).count();
    COUNTS.put(name, replaced + " of " + nodes.size());
    assertThat(COUNTS.get(name)).as(() -> nodes.toString()).isEqualTo(REPLACED.get(name));
    assertThat(nodes)
        .contains("MillraceTableSourceScan", "MillraceWatermarkAssigner")
        .anyMatch(node -> node.matches(".*Join|Rank|Match"));

    Map<?, ?> rows = rows(millrace, name);
    assertThat(rows).isNotEmpty();
    assertThat((Object) rows).isEqualTo(rows(session(SqlMode.OFF), name));
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
  }

  // The winner of an auction changes with the order in which bids are joined, until the last.
  private static Map<?, ?> rows(SqlSession session, String name) throws Exception {
    String query = QUERIES.get(name);
    return name.equals("q9") ? session.upserts(query, "id") : session.rows(query);
  }

  @AfterAll
  static void print() {
    System.out.println("nodes on Millrace's operators: " + COUNTS);
  }
}
