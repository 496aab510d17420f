// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.postgres.Sql;
import io.millrace.services.Database;
import io.millrace.services.SharedServices;
import io.millrace.sql.NexmarkTables.Content;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tables of PostgreSQL: the connector {@code millrace-postgres}, with the hook and without it. */
@ExtendWith(NothingHeldExtension.class)
class PostgresTableTest {
  private static final int BIDS = 3_000;

  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static String table(String name, String columns, String options) {
    Database database = services.database();
    return "CREATE TEMPORARY TABLE %s (%s) WITH ('connector' = 'millrace-postgres', 'url' = '%s', 'table-name' = '%s', 'username' = '%s', 'password' = '%s', %s)"
        .formatted(
            name, columns, database.jdbcUrl(), name, database.user(), database.password(), options);
  }

  private static SqlSession session(SqlMode mode, String... statements) {
    Content content = mode == SqlMode.ON ? Content.BID_BATCHES : Content.BID_ROWS;
    return new SqlSession(flink, mode).with(content.createTable("bid", BIDS)).with(statements);
  }

  private static String name(String prefix, SqlMode mode) {
    return prefix + "_" + mode.name().toLowerCase(Locale.ROOT);
  }

  @ParameterizedTest
  @EnumSource(
      value = SqlMode.class,
      names = {"ON", "OFF"})
  void rowsOfAChangelogReplaceThoseOfTheirKeys(SqlMode mode) throws Exception {
    String name = name("sql_sums", mode);
    Sql sql = new Sql(services.database());
    sql.execute("CREATE TABLE " + name + " (auction bigint PRIMARY KEY, n bigint, s bigint)");
    String table =
        table(
            name,
            "auction BIGINT NOT NULL, n BIGINT NOT NULL, s BIGINT, PRIMARY KEY (auction) NOT ENFORCED",
            "'sink.id' = '" + name + "'");
    String query = "SELECT auction, COUNT(*), SUM(price) FROM bid GROUP BY auction";
    SqlSession session = session(mode, table);
    String insert = "INSERT INTO " + name + " " + query;
    if (mode == SqlMode.ON) {
      assertThat(session.nodes(insert)).startsWith("MillraceSink", "MillraceGroupAggregate");
      assertThat(session.plan(insert)).doesNotContain("in=[rows]");
    }
    session.insert(insert);
    List<String> expected =
        session(SqlMode.OFF).rows(query).keySet().stream()
            .map(row -> row.getField(0) + " " + row.getField(1) + " " + row.getField(2))
            .sorted()
            .toList();
    assertThat(sql.strings("SELECT auction || ' ' || n || ' ' || s FROM " + name))
        .containsExactlyInAnyOrderElementsOf(expected);
    SqlSession reading = session(mode, table);
    Map<Row, Integer> rows =
        reading.rows("SELECT s, auction FROM " + name + " WHERE n > 1 AND auction > 0");
    assertThat(rows.keySet())
        .isEqualTo(
            session(SqlMode.OFF)
                .rows("SELECT s, auction FROM (" + query + ") AS t(auction, n, s) WHERE n > 1")
                .keySet()
                .stream()
                .collect(Collectors.toSet()));
  }

  @ParameterizedTest
  @EnumSource(
      value = SqlMode.class,
      names = {"ON", "OFF"})
  void rowsAreAdded(SqlMode mode) throws Exception {
    String name = name("sql_bids", mode);
    Sql sql = new Sql(services.database());
    sql.execute("CREATE TABLE " + name + " (auction bigint, channel text, date_time timestamp(3))");
    SqlSession session =
        session(
            mode,
            table(
                name,
                "auction BIGINT, channel STRING, date_time TIMESTAMP(3)",
                "'sink.id' = '" + name + "'"));
    session.insert("INSERT INTO " + name + " SELECT auction, channel, date_time FROM bid");
    assertThat(sql.number("SELECT COUNT(*) FROM " + name)).isEqualTo(BIDS);
    assertThat(sql.strings("SELECT channel || ' ' || COUNT(*) FROM " + name + " GROUP BY channel"))
        .containsExactlyInAnyOrderElementsOf(
            session(SqlMode.OFF)
                .rows("SELECT channel, COUNT(*) FROM bid GROUP BY channel")
                .keySet()
                .stream()
                .map(row -> row.getField(0) + " " + row.getField(1))
                .toList());
  }
}
