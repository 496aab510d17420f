// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.summingLong;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.sql.NexmarkTables.Content;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Queries whose windows follow the clock. The windows of two runs are others, so what holds for any
 * clock is compared.
 */
class ProcessingTimeSqlTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  /**
   * The view {@code timed} of bids with their processing time. A slow source beside them, which
   * gives nothing, keeps the job alive until the windows of all bids have fired.
   */
  private static SqlSession session(SqlMode mode, Content content) {
    return NexmarkQueries.session(flink, mode, content)
        .with(
            "CREATE TEMPORARY TABLE slow (number BIGINT) WITH ('connector' = 'datagen',"
                + " 'rows-per-second' = '1', 'number-of-rows' = '10', 'fields.number.min' = '1')",
            "CREATE TEMPORARY VIEW timed AS SELECT *, PROCTIME() AS p_time FROM ("
                + "SELECT auction, bidder, price FROM bid UNION ALL "
                + "SELECT number, number, number FROM slow WHERE number < 0)");
  }

  /** Nexmark's query 12, with windows of a second instead of ten. */
  @ParameterizedTest
  @CsvSource({"ON, EVENT_BATCHES", "ON, BID_BATCHES", "ON, BID_ROWS", "OFF, BID_ROWS"})
  void windowsHoldEachBidOnce(SqlMode mode, Content content) throws Exception {
    SqlSession session = session(mode, content);
    String query = NexmarkQueries.sql("q12").replace("'10' SECOND", "'1' SECOND");
    if (mode == SqlMode.ON) {
      assertThat(session.nodes(query)).contains("MillraceWindowAggregate");
    }
    Map<Row, Integer> windows = session.rows(query);
    assertThat(windows.values()).as("rows of a bidder's window").containsOnly(1);
    windows.keySet().forEach(row -> checkWindow(row, 2, Duration.ofSeconds(1)));
    assertThat(windows.keySet().stream().map(row -> List.of(row.getField(0), row.getField(2))))
        .as("bidders and starts of windows")
        .doesNotHaveDuplicates();

    Map<Object, Long> bids =
        windows.keySet().stream()
            .collect(
                groupingBy(row -> row.getField(0), summingLong(row -> (Long) row.getField(1))));
    assertThat(bids)
        .isEqualTo(bidsOfBidders(content.hasEvents() ? Content.EVENT_ROWS : Content.BID_ROWS));
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
  }

  private static Map<Object, Long> bidsOfBidders(Content content) throws Exception {
    Map<Object, Long> bids = new HashMap<>();
    NexmarkQueries.session(flink, SqlMode.OFF, content)
        .rows("SELECT bidder, COUNT(*) FROM bid GROUP BY bidder")
        .keySet()
        .forEach(row -> bids.put(row.getField(0), (Long) row.getField(1)));
    return bids;
  }

  @Test
  void eachRowHasTheWindowsOfItsTime() throws Exception {
    String query =
        """
        SELECT auction, price, window_start, window_end FROM TABLE(
          HOP(TABLE timed, DESCRIPTOR(p_time), INTERVAL '1' SECOND, INTERVAL '3' SECOND))
        """;
    SqlSession session = session(SqlMode.ON, Content.BID_BATCHES);
    assertThat(session.nodes(query)).contains("MillraceWindowTableFunction");
    List<Row> rows = session.changes(query);
    rows.forEach(row -> checkWindow(row, 2, Duration.ofSeconds(3)));

    Map<Row, Integer> ofThree = new HashMap<>();
    rows.forEach(row -> ofThree.merge(Row.project(row, new int[] {0, 1}), 1, Integer::sum));
    Map<Row, Integer> bids =
        NexmarkQueries.session(flink, SqlMode.OFF, Content.BID_ROWS)
            .rows("SELECT auction, price FROM bid");
    bids.replaceAll((row, count) -> 3 * count);
    assertThat(ofThree).isEqualTo(bids);
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
  }

  /**
   * @param start the position of the start of the window; its end is behind it
   */
  private static void checkWindow(Row row, int start, Duration size) {
    LocalDateTime first = (LocalDateTime) row.getField(start);
    assertThat(first.toInstant(ZoneOffset.UTC).toEpochMilli() % 1_000).isZero();
    assertThat(row.getField(start + 1)).isEqualTo(first.plus(size));
  }
}
