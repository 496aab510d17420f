// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.sql.NexmarkTables.Content;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What nodes of Flink need of the nodes of Millrace whose rows they take. */
class FlinkConsumersSqlTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final String ONE_SUBTASK = "SET 'table.exec.resource.default-parallelism' = '1'";
  private static final String LAST_BIDS =
      "CREATE TEMPORARY VIEW last_bid AS " + NexmarkQueries.sql("lastTimes");

  private static final String TEMPORAL_JOIN =
      """
      SELECT b.auction, b.bidder, b.date_time, v.date_time AS version
      FROM bid AS b LEFT JOIN last_bid FOR SYSTEM_TIME AS OF b.date_time AS v
      ON b.auction = v.auction AND b.bidder = v.bidder
      """;

  private static SqlSession session(SqlMode mode, Content content, String... statements) {
    return NexmarkQueries.session(flink, mode, content).with(statements);
  }

  private static SqlSession thatReusesObjects(SqlMode mode, Content content) {
    Configuration options = new Configuration();
    options.set(PipelineOptions.OBJECT_REUSE, true);
    return NexmarkQueries.add(new SqlSession(flink, mode, flink.environment(2, options)), content);
  }

  /** Flink's operators keep rows that come from an exchange, and do not copy them. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "SUM(price) OVER (PARTITION BY auction ORDER BY date_time)",
        "COUNT(*) OVER (PARTITION BY auction ORDER BY date_time RANGE BETWEEN INTERVAL '1' SECOND"
            + " PRECEDING AND CURRENT ROW)"
      })
  void rowsAreKeptWhereObjectsAreReused(String aggregate) throws Exception {
    String query = "SELECT auction, price, date_time, " + aggregate + " FROM bid";
    SqlSession millrace = thatReusesObjects(SqlMode.ON, Content.BID_BATCHES);
    assertThat(millrace.nodes(query)).contains("OverAggregate", "MillraceExchange");
    assertSameRows(query, millrace, NexmarkQueries.session(flink, SqlMode.OFF, Content.BID_ROWS));
  }

  @Test
  void rowsOfARankingAreKeptWhereObjectsAreReused() throws Exception {
    String query = NexmarkQueries.sql("bidsOfLast");
    SqlSession millrace = thatReusesObjects(SqlMode.ON, Content.BID_BATCHES);
    assertThat(millrace.nodes(query)).contains("Deduplicate", "MillraceExchange");
    assertSameRows(query, millrace, NexmarkQueries.session(flink, SqlMode.OFF, Content.BID_ROWS));
  }

  @Test
  void aTemporalJoinGetsAllVersions() throws Exception {
    String query = TEMPORAL_JOIN;
    SqlSession millrace = session(SqlMode.ON, Content.BID_BATCHES, LAST_BIDS, ONE_SUBTASK);
    assertThat(millrace.explanation(query))
        .contains("millrace=[no: a temporal join needs all versions of a row]");
    assertSameRows(query, millrace, session(SqlMode.OFF, Content.BID_ROWS, LAST_BIDS, ONE_SUBTASK));
  }

  /** A part that several sinks share is planned before the plans of those who read it. */
  @Test
  void aTemporalJoinGetsAllVersionsOfAViewThatAnotherSinkReads() {
    SqlSession session =
        session(
            SqlMode.ON,
            Content.BID_BATCHES,
            LAST_BIDS,
            "SET 'table.optimizer.reuse-optimize-block-with-digest-enabled' = 'true'",
            "CREATE TEMPORARY TABLE a (auction BIGINT, bidder BIGINT, PRIMARY KEY (auction, bidder) NOT ENFORCED)"
                + " WITH ('connector' = 'blackhole')",
            "CREATE TEMPORARY TABLE b (auction BIGINT, bidder BIGINT, t TIMESTAMP(3), version TIMESTAMP(3))"
                + " WITH ('connector' = 'blackhole')");
    String last = "INSERT INTO a SELECT auction, bidder FROM last_bid";
    String joined = "INSERT INTO b " + TEMPORAL_JOIN;
    assertThat(session.explanation(last, joined))
        .contains("millrace=[no: a temporal join needs all versions of a row]")
        .doesNotContain("MillraceDeduplicate");
    assertThat(session.explanation(last)).contains("MillraceDeduplicate");
  }

  @Test
  void aJoinTakesRowsOfAPartThatAnotherSinkReads() {
    SqlSession session =
        session(
            SqlMode.ON,
            Content.BID_BATCHES,
            "SET 'table.optimizer.reuse-optimize-block-with-digest-enabled' = 'true'",
            "CREATE TEMPORARY VIEW dear AS SELECT auction, MAX(price) AS price FROM bid GROUP BY auction",
            "CREATE TEMPORARY TABLE a (auction BIGINT, price BIGINT) WITH ('connector' = 'blackhole')",
            "CREATE TEMPORARY TABLE b LIKE a");
    String joined =
        "INSERT INTO b SELECT bid.auction, bid.price FROM bid JOIN dear ON bid.auction = dear.auction";
    assertThat(session.explanation("INSERT INTO a SELECT * FROM dear", joined))
        .contains("millrace=[no: its rows go to an operator with several inputs]")
        .contains("flink=[Join: there is no operator of joins on batches]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "SELECT %1$s FROM keys GROUP BY %1$s",
        "SELECT %1$s, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY %1$s ORDER BY ts DESC)"
            + " AS n FROM keys) WHERE n = 1",
        "SELECT %1$s, COUNT(*) FROM TABLE(TUMBLE(TABLE keys, DESCRIPTOR(ts), INTERVAL '1' SECOND))"
            + " GROUP BY %1$s, window_start, window_end"
      })
  void moreKeysThanStateIsRestoredByStayFlinks(String query) {
    String keys = columns(17, "k%d");
    SqlSession session =
        new SqlSession(flink, SqlMode.ON)
            .with(
                "CREATE TEMPORARY TABLE keys ("
                    + columns(17, "k%d TINYINT NOT NULL")
                    + ", ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
                    + " WITH ('connector' = 'datagen')");
    assertThat(session.explanation(query.formatted(keys)))
        .contains("millrace=[no: a key has at most 16 columns, but this has 17]")
        .doesNotContainPattern("Millrace(\\w*Aggregate|Deduplicate)");
  }

  private static String columns(int count, String column) {
    return IntStream.range(0, count).mapToObj(column::formatted).collect(Collectors.joining(", "));
  }

  /** Changes of one row would overtake each other on their way to several subtasks. */
  @Test
  void aUnionHasTheParallelismOfItsInputs() throws Exception {
    String query =
        "SELECT 'bids', COUNT(*) FROM bid UNION ALL SELECT 'dear', COUNT(*) FROM bid WHERE price > 1000";
    SqlSession session = session(SqlMode.ON, Content.BID_BATCHES);
    assertThat(session.parallelisms(query, "MillraceUnion.*")).isNotEmpty().containsOnly(1);
    String byKey = "SELECT channel, COUNT(*) FROM bid GROUP BY channel UNION ALL ";
    assertThat(
            session(SqlMode.ON, Content.BID_BATCHES)
                .parallelisms(byKey + "SELECT 'all', COUNT(*) FROM bid", "MillraceUnion\\[\\d+]"))
        .isNotEmpty()
        .containsOnly(1);
    assertThat(
            session(SqlMode.ON, Content.BID_BATCHES)
                .parallelisms(NexmarkQueries.sql("union"), "MillraceUnion.*"))
        .isNotEmpty()
        .containsOnly(2);
  }

  private static SqlSession sessionOfNaNs() {
    Row[] rows =
        LongStream.range(0, 16)
            .mapToObj(i -> Row.of(Double.longBitsToDouble(0xfff8_0000_0000_0000L + i)))
            .toArray(Row[]::new);
    return new SqlSession(flink, SqlMode.ON).with("v", Map.of("d", "DOUBLE NOT NULL"), rows);
  }

  /** Flink sends each by its bits; so one subtask would get some of them, and restore none. */
  @Test
  void allNaNsAreOneKey() throws Exception {
    String query = "SELECT d, COUNT(*) FROM v WHERE d <> 1 GROUP BY d";
    SqlSession session = sessionOfNaNs();
    assertThat(session.nodes(query))
        .containsSubsequence("MillraceGroupAggregate", "MillraceExchange", "MillraceCalc");
    assertThat(session.rows(query)).containsOnlyKeys(Row.of(Double.NaN, 16L));

    assertThat(
            sessionOfNaNs().with("SET 'millrace.sql.disabled-nodes' = 'Calc'").explanation(query))
        .contains("millrace=[no: Flink sends rows by a key of DOUBLE, where NaN differ]");
  }

  private static void assertSameRows(String query, SqlSession millrace, SqlSession stock)
      throws Exception {
    Map<Row, Integer> rows = millrace.rows(query);
    assertThat(rows).isNotEmpty().isEqualTo(stock.rows(query));
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
  }
}
