// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.sql.NexmarkSqlTest.Query;
import java.util.List;

/** Nexmark's queries in SQL, and the nodes of their plans. */
final class NexmarkQueries {
  private static final int EVENTS = 20_000;

  private NexmarkQueries() {}

  static SqlSession session(FlinkCluster cluster, SqlMode mode) {
    return new SqlSession(cluster, mode)
        .with(
            "CREATE TEMPORARY TABLE events ("
                + NexmarkEvents.columns()
                + ", WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND)"
                + " WITH ('connector' = 'nexmark-events', 'count' = '"
                + EVENTS
                + "')",
            "CREATE TEMPORARY VIEW bid AS SELECT bid.auction, bid.bidder, bid.price, bid.channel,"
                + " bid.url, date_time, bid.extra FROM events WHERE event_type = 2");
  }

  static List<Query> all() {
    return List.of(
        new Query(
            "q0",
            "SELECT auction, bidder, price, date_time, extra FROM bid",
            List.of("MillraceCalc", "WatermarkAssigner", "TableSourceScan")),
        new Query(
            "q1",
            "SELECT auction, bidder, 0.908 * price AS price, date_time, extra FROM bid",
            List.of("MillraceCalc", "WatermarkAssigner", "TableSourceScan")),
        new Query(
            "q2",
            "SELECT auction, price FROM bid WHERE MOD(auction, 123) = 0",
            List.of("MillraceCalc", "WatermarkAssigner", "TableSourceScan")));
  }
}
