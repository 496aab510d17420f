// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.batch.ColumnBatch;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Nexmark's queries, unchanged, over its nested events: replaced nodes give stock Flink's rows. */
class NexmarkSqlTest {
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private static final Pattern NODE = Pattern.compile("(?m)^[\\s|:+-]*(\\w+)\\(");

  /**
   * A query.
   *
   * @param nodes of its plan, from the sink to the sources
   */
  record Query(String name, String sql, List<String> nodes) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Query> queries() {
    return NexmarkQueries.all().stream();
  }

  @ParameterizedTest
  @MethodSource("queries")
  void replacedNodesGiveTheRowsOfStockFlink(Query query) throws Exception {
    SqlSession millrace = NexmarkQueries.session(flink, SqlMode.ON);
    assertThat(nodes(millrace.plan(query.sql()))).isEqualTo(query.nodes());

    Map<Row, Integer> rows = millrace.rows(query.sql());
    Map<Row, Integer> stock = NexmarkQueries.session(flink, SqlMode.OFF).rows(query.sql());
    assertThat(stock).isNotEmpty();
    assertThat(rows).isEqualTo(stock);
    assertThat(ColumnBatch.liveBatches()).as("live batches").isZero();
  }

  private static List<String> nodes(String plan) {
    Matcher matcher = NODE.matcher(plan);
    return matcher.results().map(node -> node.group(1)).toList();
  }
}
