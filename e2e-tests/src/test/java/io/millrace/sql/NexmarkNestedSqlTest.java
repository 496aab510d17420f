// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.sql.NexmarkTables.Content;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The queries of Nexmark all of whose nodes are replaced, unchanged, over the nested table of
 * events that the benchmark's authors define, with Millrace's default options. q12 is run by {@link
 * ProcessingTimeSqlTest}.
 */
class NexmarkNestedSqlTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final String SOURCE = "*Calc *WatermarkAssigner *Calc *TableSourceScan";
  private static final String SOURCE_OF_MINI_BATCHES =
      "*Calc *MiniBatchAssigner *WatermarkAssigner *Calc *TableSourceScan";
  private static final String[] NO_SETTINGS = {};
  private static final Map<String, Integer> NODES = new LinkedHashMap<>();

  private static SqlSession session(String... settings) {
    return NexmarkQueries.sessionOfComputedTimes(new SqlSession(flink, SqlMode.ON)).with(settings);
  }

  private static void compare(String query, String nodes, String... settings) throws Exception {
    SqlSession stock =
        NexmarkQueries.session(flink, SqlMode.OFF, Content.EVENT_ROWS).with(settings);
    NexmarkQueries.compare(query, session(settings), nodes, stock);
    NODES.merge(query, NexmarkQueries.nodes(nodes).size(), Integer::sum);
  }

  @ParameterizedTest
  @ValueSource(strings = {"q0", "q1", "q2", "q10", "q14", "q21", "q22"})
  void allNodesOfProjectionsAreReplaced(String query) throws Exception {
    compare(query, SOURCE, NO_SETTINGS);
    compare(query, SOURCE_OF_MINI_BATCHES, NexmarkQueries.MINI_BATCHES);
  }

  @ParameterizedTest
  @ValueSource(strings = {"q15", "q16", "q17"})
  void allNodesOfAggregatesAreReplaced(String query) throws Exception {
    compare(query, "*GroupAggregate *Exchange " + SOURCE, NO_SETTINGS);
    compare(
        query,
        "*GlobalGroupAggregate *Exchange *LocalGroupAggregate " + SOURCE_OF_MINI_BATCHES,
        NexmarkQueries.MINI_BATCHES);
  }

  /** Mini-batches of a query with windows by event time alone end with its watermarks. */
  @Test
  void allNodesOfSessionsAreReplaced() throws Exception {
    String nodes = "*Calc *GroupWindowAggregate *Exchange " + SOURCE;
    compare("q11", nodes, NO_SETTINGS);
    compare("q11", nodes, NexmarkQueries.MINI_BATCHES);
  }

  @Test
  void allNodesOfWindowsByTheClockAreReplaced() {
    assertNodesOfWindowsByTheClock(SOURCE, NO_SETTINGS);
    assertNodesOfWindowsByTheClock(SOURCE_OF_MINI_BATCHES, NexmarkQueries.MINI_BATCHES);
  }

  private static void assertNodesOfWindowsByTheClock(String source, String... settings) {
    SqlSession session =
        session(settings)
            .with("CREATE TEMPORARY VIEW timed AS SELECT *, PROCTIME() AS p_time FROM bid");
    List<String> nodes = session.nodes(NexmarkQueries.sql("q12"));
    assertThat(nodes).isEqualTo(NexmarkQueries.nodes("*WindowAggregate *Exchange " + source));
    NODES.merge("q12", nodes.size(), Integer::sum);
  }

  @AfterAll
  static void print() {
    int nodes = NODES.values().stream().mapToInt(Integer::intValue).sum();
    System.out.printf(
        "%d queries with and without mini-batches, all %d nodes on Millrace's operators: %s%n",
        NODES.size(), nodes, NODES);
  }
}
