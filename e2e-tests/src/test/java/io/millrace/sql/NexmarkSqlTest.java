// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.sql.NexmarkTables.Content;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Queries over Nexmark's tables, unchanged: the nodes that are claimed are replaced, and give
 * Flink's rows. {@link NexmarkNestedSqlTest} has those of the benchmark all of whose nodes are.
 */
class NexmarkSqlTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final String[] NO_SETTINGS = {};
  private static final String[] TTL = {"SET 'table.exec.state.ttl' = '1 h'"};
  private static final String[] ROWS_ONLY = {"SET 'millrace.sql.disabled-nodes' = 'Calc;Exchange'"};
  private static final String[] ONE_SUBTASK = {
    "SET 'table.exec.resource.default-parallelism' = '1'"
  };

  /**
   * Flink's planner says that such a ranking only inserts, but it updates, without the rows before:
   * so the last row of each key counts, and how many updates there are depends on the order of
   * rows.
   */
  @Test
  void updatesOfARankingThatIsSaidToInsertKeepTheirKinds() throws Exception {
    String query = NexmarkQueries.sql("rank");
    SqlSession millrace = NexmarkQueries.session(flink, SqlMode.ON, Content.BID_BATCHES);
    assertThat(millrace.nodes(query))
        .isEqualTo(
            NexmarkQueries.nodes("*Calc Rank *Exchange *Calc *WatermarkAssigner *TableSourceScan"));
    List<Row> changes = millrace.changes(query);
    assertThat(changes).extracting(Row::getKind).contains(RowKind.INSERT, RowKind.UPDATE_AFTER);

    List<Row> stock = NexmarkQueries.session(flink, SqlMode.OFF, Content.BID_ROWS).changes(query);
    assertThat(lastOfEachKey(changes)).isEqualTo(lastOfEachKey(stock));
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
  }

  static Stream<Arguments> ofDeduplicatedRows() {
    String source = " *WatermarkAssigner *TableSourceScan";
    String rows = " WatermarkAssigner TableSourceScan";
    String miniBatches = " *MiniBatchAssigner" + source;
    String arrival = "*Calc *Deduplicate *Exchange *Calc";
    return Stream.of(
        arguments("q18", Content.BID_BATCHES, "*Deduplicate *Exchange" + source, ONE_SUBTASK),
        arguments("q18", Content.BID_ROWS, "*Deduplicate Exchange" + rows, ONE_SUBTASK),
        arguments(
            "q18",
            Content.BID_BATCHES,
            "*Deduplicate *Exchange" + miniBatches,
            and(NexmarkQueries.MINI_BATCHES, ONE_SUBTASK)),
        arguments(
            "q18", Content.BID_BATCHES, "*Deduplicate *Exchange" + source, and(TTL, ONE_SUBTASK)),
        arguments(
            "lastTimes", Content.BID_BATCHES, "*Deduplicate *Exchange *Calc" + source, NO_SETTINGS),
        arguments(
            "firstByTime", Content.BID_BATCHES, "Deduplicate *Exchange" + source, NO_SETTINGS),
        arguments(
            "firstByTime",
            Content.BID_BATCHES,
            "*Deduplicate *Exchange" + miniBatches,
            and(NexmarkQueries.MINI_BATCHES, ONE_SUBTASK)),
        arguments("lastToCome", Content.BID_BATCHES, arrival + source, ONE_SUBTASK),
        arguments("lastToCome", Content.BID_ROWS, arrival + rows, ONE_SUBTASK),
        arguments("firstToCome", Content.BID_BATCHES, arrival + source, ONE_SUBTASK),
        arguments("firstToCome", Content.BID_BATCHES, arrival + source, and(TTL, ONE_SUBTASK)),
        arguments(
            "firstToCome",
            Content.BID_BATCHES,
            arrival + miniBatches,
            and(NexmarkQueries.MINI_BATCHES, ONE_SUBTASK)),
        arguments(
            "firstToCome",
            Content.BID_ROWS,
            "Calc *Deduplicate Exchange Calc" + rows,
            and(ROWS_ONLY, ONE_SUBTASK)));
  }

  /**
   * With several subtasks, which of the rows with the same time comes last depends on the run.
   *
   * @param settings statements of both sessions
   */
  @ParameterizedTest
  @MethodSource
  void ofDeduplicatedRows(String name, Content content, String nodes, String[] settings)
      throws Exception {
    String query = NexmarkQueries.sql(name);
    SqlSession millrace = NexmarkQueries.session(flink, SqlMode.ON, content).with(settings);
    assertThat(millrace.nodes(query)).isEqualTo(NexmarkQueries.nodes(nodes));

    Map<List<Object>, Row> rows = millrace.upserts(query, "auction", "bidder");
    Map<List<Object>, Row> stock =
        NexmarkQueries.session(flink, SqlMode.OFF, Content.BID_ROWS)
            .with(settings)
            .upserts(query, "auction", "bidder");
    assertThat(stock).isNotEmpty();
    assertThat(rows).isEqualTo(stock);
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
  }

  /** EXPLAIN has the reasons in the physical plan. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "rank | it is not a de-duplication of insertions by a time attribute",
        "firstOfAll | it has no keys",
        "firstByTime | a first row by event time waits for watermarks",
        "bidsOfLast | a consumer needs the rows before updates"
      })
  void whatStaysARanking(String query, String reason) {
    assertThat(
            NexmarkQueries.session(flink, SqlMode.ON, Content.BID_BATCHES)
                .explanation(NexmarkQueries.sql(query)))
        .containsPattern("\\bRank\\(.*millrace=\\[no: " + reason + "]")
        .doesNotContain("MillraceDeduplicate");
  }

  private static String[] and(String[] some, String[] more) {
    return Stream.of(some, more).flatMap(Arrays::stream).toArray(String[]::new);
  }

  private static Map<Object, Object> lastOfEachKey(List<Row> changes) {
    Map<Object, Object> last = new HashMap<>();
    changes.forEach(row -> last.put(row.getField(0), row.getField(1)));
    return last;
  }

  static Stream<Arguments> ofNestedRows() {
    return Stream.of(
        arguments("q0", "*Calc WatermarkAssigner TableSourceScan"),
        arguments("q1", "*Calc WatermarkAssigner TableSourceScan"),
        arguments("q2", "*Calc WatermarkAssigner TableSourceScan"),
        arguments("q10", "*Calc WatermarkAssigner TableSourceScan"),
        arguments("q14", "*Calc WatermarkAssigner TableSourceScan"),
        arguments("q14OnDevice", "*Calc WatermarkAssigner TableSourceScan"),
        arguments("q21", "*Calc WatermarkAssigner TableSourceScan"),
        arguments("q22", "*Calc WatermarkAssigner TableSourceScan"),
        arguments(
            "aggregate", "*GroupAggregate *Exchange *Calc WatermarkAssigner TableSourceScan"));
  }

  @ParameterizedTest
  @MethodSource
  void ofNestedRows(String query, String nodes) throws Exception {
    compare(query, Content.EVENT_ROWS, Content.EVENT_ROWS, nodes);
  }

  static Stream<Arguments> ofBatches() {
    String source = " *WatermarkAssigner *TableSourceScan";
    return Stream.of(
        arguments("q0", source.strip()),
        arguments("q14", "*Calc" + source),
        arguments("q14OnDevice", "*Calc" + source),
        arguments("q15", "*GroupAggregate *Exchange *Calc" + source),
        arguments("q17", "*Calc *GroupAggregate *Exchange *Calc" + source),
        arguments("aggregate", "*GroupAggregate *Exchange *Calc" + source),
        arguments("total", "*GroupAggregate *Exchange *Calc" + source),
        arguments(
            "nested", "*GroupAggregate *Exchange *Calc *GroupAggregate *Exchange *Calc" + source),
        arguments("distinct", "*GroupAggregate *Exchange *Calc" + source),
        arguments(
            "distinctOfChanges",
            "*GroupAggregate *Exchange *Calc *GroupAggregate *Exchange *Calc" + source),
        arguments("weighted", "*GroupAggregate *Exchange *Calc" + source),
        arguments(
            "weightedOfChanges",
            "*GroupAggregate *Exchange *Calc *GroupAggregate *Exchange *Calc" + source),
        arguments("changelog", "*Calc *GroupAggregate *Exchange *Calc" + source),
        arguments("q11", "*Calc *GroupWindowAggregate *Exchange" + source),
        arguments(
            "window",
            "*Calc *GlobalWindowAggregate *Exchange *LocalWindowAggregate *Calc" + source),
        arguments("hop", "*Calc *GlobalWindowAggregate *Exchange *LocalWindowAggregate" + source),
        arguments(
            "cumulate", "*GlobalWindowAggregate *Exchange *LocalWindowAggregate *Calc" + source),
        arguments("session", "*Calc *WindowAggregate *Exchange" + source),
        arguments("oldTumble", "*Calc *GroupWindowAggregate *Exchange" + source),
        arguments("rowsOfTumble", "*Calc *WindowTableFunction" + source),
        arguments("rowsOfHop", "*Calc *WindowTableFunction" + source),
        arguments("rowsOfWideHop", "*Calc *WindowTableFunction" + source),
        arguments("rowsOfCumulate", "*Calc *WindowTableFunction" + source),
        arguments("rowsOfSession", "*Calc WindowTableFunction *Exchange" + source),
        arguments(
            "dearestOfWindow", "*Calc WindowRank *Exchange *Calc *WindowTableFunction" + source),
        arguments("groupingSets", "*Calc *GroupAggregate *Exchange *Expand *Calc" + source),
        arguments(
            "rollupOfChanges",
            "*Calc *GroupAggregate *Exchange *Expand *Calc *GroupAggregate *Exchange *Calc"
                + source),
        arguments("keysOfFirst", "*Calc *Deduplicate *Exchange *Calc" + source),
        arguments(
            "bidsOfLast", "*GroupAggregate *Exchange *Calc Deduplicate *Exchange *Calc" + source),
        arguments(
            "union",
            "*Union *Calc *WatermarkAssigner Calc *TableSourceScan"
                + " *Calc *WatermarkAssigner Calc Reused"),
        arguments(
            "fan",
            "*Calc Join Exchange *Calc"
                + source
                // Flink puts a Calc behind a scan that two nodes share, when nodes have been
                // replaced; it is not executed.
                + " Exchange *GroupAggregate *Exchange *Calc *WatermarkAssigner Calc Reused"));
  }

  @ParameterizedTest
  @MethodSource
  void ofBatches(String query, String nodes) throws Exception {
    compare(query, Content.BID_BATCHES, Content.BID_ROWS, nodes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"union", "fan"})
  void aScanThatIsSharedGivesBatches(String query) {
    SqlSession session = NexmarkQueries.session(flink, SqlMode.ON, Content.BID_BATCHES);
    assertThat(session.operators(NexmarkQueries.sql(query)))
        .anyMatch(name -> name.startsWith("MillraceWatermarkAssigner columns"))
        .noneMatch(name -> name.matches("(MillraceTableSourceScan rows|Calc).*"));
    assertThat(
            NexmarkQueries.session(flink, SqlMode.ON, Content.BID_BATCHES)
                .plan(NexmarkQueries.sql(query)))
        .doesNotContain("flink=[Calc");
  }

  /** Their last bits depend on the order of rows, which several subtasks do not keep. */
  @Test
  void deviations() throws Exception {
    compare(
        "deviation",
        Content.BID_BATCHES,
        Content.BID_ROWS,
        "*Calc *GroupAggregate *Exchange *Calc *WatermarkAssigner *TableSourceScan",
        ONE_SUBTASK);
  }

  /** The windows of an instant are those of the session's zone. */
  @Test
  void windowsOfInstants() throws Exception {
    String query =
        """
        SELECT auction, date_time, window_start, window_end, window_time FROM TABLE(
          CUMULATE(TABLE bid, DESCRIPTOR(instant), INTERVAL '12' HOUR, INTERVAL '1' DAY))
        """;
    SqlSession millrace = NexmarkQueries.sessionOfInstants(flink, SqlMode.ON, Content.BID_BATCHES);
    assertThat(millrace.nodes(query))
        .isEqualTo(
            NexmarkQueries.nodes(
                "*Calc *WindowTableFunction *WatermarkAssigner *Calc *TableSourceScan"));
    assertThat(millrace.rows(query))
        .isNotEmpty()
        .isEqualTo(
            NexmarkQueries.sessionOfInstants(flink, SqlMode.OFF, Content.BID_ROWS).rows(query));
  }

  static Stream<Arguments> ofMiniBatches() {
    String source = " *MiniBatchAssigner *WatermarkAssigner *TableSourceScan";
    return Stream.of(
        arguments(
            "aggregate", "*GlobalGroupAggregate *Exchange *LocalGroupAggregate *Calc" + source),
        arguments(
            "nested",
            "*GlobalGroupAggregate *Exchange *LocalGroupAggregate *Calc *GlobalGroupAggregate *Exchange *LocalGroupAggregate *Calc"
                + source),
        arguments(
            "distinct", "*GlobalGroupAggregate *Exchange *LocalGroupAggregate *Calc" + source),
        arguments(
            "weighted", "*GlobalGroupAggregate *Exchange *LocalGroupAggregate *Calc" + source),
        arguments(
            "window",
            "*Calc *GlobalWindowAggregate *Exchange *LocalWindowAggregate *Calc" + source));
  }

  @ParameterizedTest
  @MethodSource
  void ofMiniBatches(String query, String nodes) throws Exception {
    compare(query, Content.BID_BATCHES, Content.BID_ROWS, nodes, NexmarkQueries.MINI_BATCHES);
  }

  static Stream<Arguments> ofSplitDistinctAggregates() {
    String split =
        "*GlobalGroupAggregate *Exchange *IncrementalGroupAggregate *Exchange *LocalGroupAggregate";
    String source = " *MiniBatchAssigner *WatermarkAssigner *TableSourceScan";
    return Stream.of(
        arguments("q15", split + " *Calc *Expand *Calc" + source),
        arguments("q16", split + " *Calc *Expand *Calc" + source),
        arguments("bidders", "*Calc " + split + " *Calc" + source));
  }

  @ParameterizedTest
  @MethodSource
  void ofSplitDistinctAggregates(String query, String nodes) throws Exception {
    String[] split = {"SET 'table.optimizer.distinct-agg.split.enabled' = 'true'"};
    compare(
        query,
        Content.BID_BATCHES,
        Content.BID_ROWS,
        nodes,
        and(NexmarkQueries.MINI_BATCHES, split));
  }

  /** With several subtasks, the order of a key's rows depends on the run. */
  @Test
  void separatorsOfStrings() throws Exception {
    String source = "*WatermarkAssigner *TableSourceScan";
    compare(
        "urls",
        Content.BID_BATCHES,
        Content.BID_ROWS,
        "*GroupAggregate *Exchange *Calc " + source,
        ONE_SUBTASK);
    compare(
        "urls",
        Content.BID_BATCHES,
        Content.BID_ROWS,
        "*GlobalGroupAggregate *Exchange *LocalGroupAggregate *Calc *MiniBatchAssigner " + source,
        and(NexmarkQueries.MINI_BATCHES, ONE_SUBTASK));
  }

  /**
   * @param nodes of the plan, from the sink to the sources, with a star before Millrace's
   * @param settings statements of both sessions
   */
  private static void compare(
      String name, Content content, Content ofStock, String nodes, String... settings)
      throws Exception {
    NexmarkQueries.compare(
        name,
        NexmarkQueries.session(flink, SqlMode.ON, content).with(settings),
        nodes,
        NexmarkQueries.session(flink, SqlMode.OFF, ofStock).with(settings));
  }
}
