// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.operators.sql.planner.node.PlanContext;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.sql.table.SqlOptions;
import io.millrace.operators.state.StateTtl;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.sql.NexmarkTables.Content;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Options of the planner hook, and what EXPLAIN says. */
class SqlHookTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final String QUERY = NexmarkQueries.sql("q2");

  private static SqlSession session(SqlMode mode) {
    return NexmarkQueries.session(flink, mode, Content.BID_ROWS);
  }

  @Test
  void byDefaultPlansAreFlinks() {
    assertThat(SqlOptions.MODE.defaultValue()).isEqualTo(SqlMode.OFF);
    assertThat(session(SqlMode.OFF).plan(QUERY))
        .startsWith("Calc(select=")
        .doesNotContainIgnoringCase("millrace");
  }

  @Test
  void explainTellsWhatWouldBe() throws Exception {
    SqlSession session = session(SqlMode.EXPLAIN);
    assertThat(session.nodes(QUERY))
        .containsExactly("Calc", "WatermarkAssigner", "TableSourceScan");
    assertThat(session.plan(QUERY))
        .contains("millrace=[yes], in=[rows]")
        .contains("millrace=[no: its source gives rows]");
    assertThat(session.rows(QUERY)).isNotEmpty();
  }

  @ParameterizedTest
  @EnumSource(
      value = SqlMode.class,
      names = {"ON", "EXPLAIN"})
  void theNodeThatTakesRowsOfAJoinTellsWhyTheJoinStaysFlinks(SqlMode mode) {
    String join = "SELECT b.auction, c.channel FROM bid AS b JOIN bid AS c ON b.auction = c.price";
    assertThat(session(mode).plan("SELECT auction, COUNT(*) FROM (" + join + ") GROUP BY auction"))
        .containsOnlyOnce("flink=[Join: there is no operator of joins on batches]");
  }

  @Test
  void nodesOfFlinkInARowAreNamedTogether() {
    assertThat(
            session(SqlMode.ON)
                .plan(
                    "SELECT auction, COUNT(*) FROM (SELECT auction FROM bid, UNNEST(ARRAY[1, 2])"
                        + " AS t (x), UNNEST(ARRAY[price, 2]) AS u (y)) GROUP BY auction"))
        .contains("flink=[Correlate: table functions take and give rows]");
  }

  @Test
  void aDisabledKindOfNodeStaysFlinks() {
    SqlSession session =
        session(SqlMode.ON).with("SET 'millrace.sql.disabled-nodes' = 'Exchange;Calc'");
    assertThat(session.plan(QUERY)).startsWith("Calc(").contains("millrace=[no: disabled by");
  }

  @Test
  void anUnknownKindOfNodeCannotBeDisabled() {
    String disabled = "SET 'millrace.sql.disabled-nodes' = 'Exchange;Calk'";
    assertThatThrownBy(() -> session(SqlMode.ON).with(disabled).plan(QUERY))
        .isInstanceOf(ValidationException.class)
        .hasMessageStartingWith("expected kinds of nodes in 'millrace.sql.disabled-nodes', which")
        .hasMessageContaining("are Calc, Deduplicate,")
        .hasMessageEndingWith("; got 'Calk'");
    assertThat(session(SqlMode.OFF).with(disabled).plan(QUERY)).startsWith("Calc(");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "SELECT price, auction FROM bid",
        "SELECT 0.908 * price FROM bid WHERE MOD(auction, 123) = 0 AND channel <> 'Google'",
        "SELECT CASE WHEN HOUR(date_time) > 7 THEN 'day' ELSE 'night' END FROM bid",
        "SELECT CAST(price AS DOUBLE) / 3 FROM bid"
      })
  void whatFlinkDoesFasterOnRowsStaysFlinks(String query) {
    SqlSession session =
        session(SqlMode.ON).with("SET 'millrace.sql.replace-cheap-nodes' = 'false'");
    assertThat(session.plan(query))
        .startsWith("Calc(")
        .contains("millrace=[no: it does too little to make batches of rows]");
    assertThat(session(SqlMode.ON).plan(query)).startsWith("MillraceCalc(");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT UPPER(channel) FROM bid",
        "SELECT price FROM bid WHERE channel LIKE '%oogle'",
        "SELECT CAST(price AS STRING) FROM bid"
      })
  void whatMillraceDoesFasterOnRowsIsReplaced(String query) {
    assertThat(
            session(SqlMode.ON)
                .with("SET 'millrace.sql.replace-cheap-nodes' = 'false'")
                .plan(query))
        .startsWith("MillraceCalc(");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "SELECT PRINTF('%s', channel) FROM bid | false",
        "SELECT MD5(PRINTF('%s', channel)) FROM bid WHERE price > 100 | true",
        "SELECT PRINTF('%s', channel), price + 1 FROM bid | false"
      })
  void whatTheHostComputesIsReplacedWhereADeviceComputesMore(String query, boolean isReplaced) {
    SqlSession session =
        session(SqlMode.ON).with("SET 'millrace.sql.replace-cheap-nodes' = 'false'");
    String name = isReplaced ? "MillraceCalc(" : "Calc(";
    assertThat(session.plan(query)).startsWith(name);
    assertThat(
            session.plan(query).contains("millrace=[no: the host does all that costs time in it]"))
        .isNotEqualTo(isReplaced);
    assertThat(session(SqlMode.ON).plan(query))
        .startsWith("MillraceCalc(")
        .contains("host=[[PRINTF");
  }

  @Test
  void castsThatGiveNullWhereTheyFailStayFlinks() throws Exception {
    String query = "SELECT CAST(NULLIF(channel, 'none') AS BIGINT) FROM bid";
    String legacy = "SET 'table.exec.legacy-cast-behaviour' = 'ENABLED'";
    SqlSession session = session(SqlMode.ON).with(legacy);
    assertThat(session.plan(query))
        .contains("millrace=[no: CAST with table.exec.legacy-cast-behaviour]");
    assertThat(session.rows(query)).isEqualTo(session(SqlMode.OFF).with(legacy).rows(query));
  }

  @Test
  void compiledPlansHaveFlinksNodes() {
    SqlSession session =
        session(SqlMode.ON)
            .with(
                "CREATE TEMPORARY TABLE nothing (auction BIGINT, price BIGINT)"
                    + " WITH ('connector' = 'blackhole')");
    String insert = "INSERT INTO nothing " + QUERY;
    assertThat(session.nodes(insert))
        .isEqualTo(List.of("Sink", "MillraceCalc", "WatermarkAssigner", "TableSourceScan"));
    assertThat(session.compiledPlan(insert))
        .contains("stream-exec-calc_1")
        .doesNotContainIgnoringCase("millrace-calc");
  }

  @Test
  void compiledPlansOfMillracesTablesRunOnFlinksNodes(@TempDir Path folder) throws Exception {
    String files =
        "CREATE TEMPORARY TABLE sessions (bidder BIGINT, n BIGINT, first TIMESTAMP(3),"
            + " last TIMESTAMP(3)) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '%s')"
                .formatted(folder.resolve("sessions").toUri());
    String query = NexmarkQueries.sql("q11");
    SqlSession session =
        NexmarkQueries.sessionOfComputedTimes(
                new SqlSession(
                    flink, SqlMode.ON, StreamExecutionEnvironment.createLocalEnvironment(2)))
            .with(files);
    String insert = "INSERT INTO sessions " + query;
    assertThat(session.nodes(insert))
        .contains("MillraceGroupWindowAggregate", "MillraceTableSourceScan");
    String plan = session.compiledPlan(insert);
    assertThat(plan)
        .contains("group-window-aggregate")
        .doesNotContainIgnoringCase("millrace-group");
    session.runCompiled(plan);
    assertThat(session(SqlMode.OFF).with(files).rows("SELECT * FROM sessions"))
        .isEqualTo(NexmarkQueries.session(flink, SqlMode.OFF, Content.EVENT_ROWS).rows(query));
  }

  @Test
  void eachOperatorWithStateHasAUidOfItsOwn() throws Exception {
    String uids = "SET 'table.exec.uid.generation' = 'ALWAYS'";
    String query = NexmarkQueries.sql("q16");
    SqlSession session = session(SqlMode.ON).with(uids);
    assertThat(session.nodes(query)).startsWith("MillraceGroupAggregate");
    assertThat(session.rows(query)).isEqualTo(session(SqlMode.OFF).with(uids).rows(query));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT auction, CAST(price AS STRING) FROM bid WHERE MOD(auction, 123) = 0",
        "SELECT auction, COUNT(*) FROM bid GROUP BY auction",
        "SELECT auction, MAX(price) FROM (SELECT auction, price FROM bid UNION ALL SELECT * FROM"
            + " (VALUES (CAST(1 AS BIGINT), CAST(2 AS BIGINT)))) GROUP BY auction"
      })
  void eachOperatorHasAUidIfAsked(String query) {
    String always = "SET 'table.exec.uid.generation' = 'ALWAYS'";
    assertThat(session(SqlMode.ON).with(always).uids(query, "Millrace.*"))
        .isNotEmpty()
        .doesNotContainNull()
        .doesNotHaveDuplicates();
    assertThat(session(SqlMode.ON).uids(query, "Millrace.*")).containsOnlyNulls();
  }

  @Test
  void optionsOfTheClusterHold() {
    TableConfig config = TableConfig.getDefault();
    config.setRootConfiguration(
        new Configuration().set(ExecutionConfigOptions.IDLE_STATE_RETENTION, Duration.ofHours(1)));
    assertThat(new PlanContext(config).stateTtl())
        .isEqualTo(StateTtl.ofProcessingTime(Duration.ofHours(1)));
  }

  /** Uids have the numbers of nodes, by which the state of Flink's operators is found. */
  @Test
  void replacedNodesKeepTheNumbersOfTheOthers() {
    String query =
        "SELECT auction, SUM(price) OVER (PARTITION BY auction ORDER BY dt) FROM (SELECT auction,"
            + " price, PROCTIME() AS dt FROM (SELECT auction, price FROM bid UNION ALL SELECT *"
            + " FROM (VALUES (CAST(1 AS BIGINT), CAST(2 AS BIGINT)))))";
    assertThat(session(SqlMode.ON).nodes(query)).contains("MillraceValues", "OverAggregate");
    assertThat(uidsOfOverAggregates(query, SqlMode.ON))
        .hasSize(1)
        .isEqualTo(uidsOfOverAggregates(query, SqlMode.OFF));
  }

  private static List<String> uidsOfOverAggregates(String query, SqlMode mode) {
    ExecNodeContext.resetIdCounter();
    return session(mode)
        .with("SET 'table.exec.uid.generation' = 'ALWAYS'")
        .uids(query, "OverAggregate.*");
  }
}
