// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.operators.sql.function.MicroBatchScalarFunction;
import io.millrace.operators.sql.function.MicroBatchTableFunction;
import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.sql.NexmarkTables.Content;
import java.util.Map;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions that compute micro-batches, in plans of Flink's. */
@ExtendWith(NothingHeldExtension.class)
class MicroBatchFunctionTest {
  private static final int BIDS = 2_000;
  private static final String CAPACITY = "table.exec.async-scalar.max-concurrent-operations";

  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  /** A text of a bid. */
  public static final class Label extends MicroBatchScalarFunction {
    private static final long serialVersionUID = 1L;

    public Label() {
      super(
          "channel STRING, price BIGINT, date_time TIMESTAMP(3)",
          "SUBSTRING(channel, 2) || ': ' || CAST(price * 2 AS STRING) || CAST(HOUR(date_time) AS STRING)");
    }
  }

  /** A division, which fails at 0. */
  public static final class Divided extends MicroBatchScalarFunction {
    private static final long serialVersionUID = 1L;

    public Divided() {
      super("dividend BIGINT, divisor BIGINT", "dividend / divisor");
    }
  }

  /** Rows of labels. */
  public static final class Labels extends MicroBatchTableFunction {
    private static final long serialVersionUID = 1L;

    public Labels() {
      super(
          "auction BIGINT, price BIGINT, channel STRING, date_time TIMESTAMP(3)",
          "auction, SUBSTRING(channel, 2) AS label, price * 2 AS twice");
    }
  }

  /** Not a function. */
  public static final class Two extends MicroBatchScalarFunction {
    private static final long serialVersionUID = 1L;

    public Two() {
      super("a INT", "a + 1, a + 2");
    }
  }

  private static SqlSession session() {
    return new SqlSession(flink, SqlMode.OFF)
        .with(
            Content.BID_ROWS.createTable("bid", BIDS),
            "CREATE TEMPORARY FUNCTION label AS '" + Label.class.getName() + "'",
            "CREATE TEMPORARY FUNCTION labels AS '" + Labels.class.getName() + "'",
            "CREATE TEMPORARY FUNCTION divided AS '" + Divided.class.getName() + "'",
            "CREATE TEMPORARY FUNCTION two AS '" + Two.class.getName() + "'");
  }

  private static Map<Row, Integer> expected() throws Exception {
    return session()
        .rows(
            "SELECT auction, SUBSTRING(channel, 2) || ': ' || CAST(price * 2 AS STRING) || CAST(HOUR(date_time) AS STRING) FROM bid");
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 10_000})
  void resultsAreThoseOfTheExpression(int capacity) throws Exception {
    SqlSession session = session().with("SET '" + CAPACITY + "' = '" + capacity + "'");
    String query = "SELECT auction, label(channel, price, date_time) FROM bid";
    assertThat(session.plan(query)).contains("AsyncCalc(").doesNotContain("Millrace");
    assertThat(session.rows(query)).isEqualTo(expected());
  }

  @Test
  void nullsAreValues() throws Exception {
    String query =
        "SELECT auction, label(channel, IF(MOD(auction, 2) = 0, CAST(NULL AS BIGINT), price), date_time) FROM bid";
    String plain =
        "SELECT auction, IF(MOD(auction, 2) = 0, CAST(NULL AS STRING), SUBSTRING(channel, 2) || ': ' || CAST(price * 2 AS STRING) || CAST(HOUR(date_time) AS STRING)) FROM bid";
    assertThat(session().rows(query)).isEqualTo(session().rows(plain));
  }

  @Test
  void aRowThatFailsFailsTheJob() {
    SqlSession session =
        session().with("SET 'table.exec.async-scalar.retry-strategy' = 'NO_RETRY'");
    assertThatThrownBy(
            () -> session.rows("SELECT divided(price, IF(MOD(auction, 7) = 1, 0, 1)) FROM bid"))
        .hasStackTraceContaining("division by zero in (dividend / divisor)");
  }

  @Test
  void aFunctionHasOneExpression() {
    assertThatThrownBy(() -> session().plan("SELECT two(1) FROM bid"))
        .hasStackTraceContaining("expected one expression, got 2: a + 1, a + 2");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " PARTITION BY channel"})
  void rowsOfATableWaitForTheWatermark(String partitions) throws Exception {
    String bids = "(SELECT auction, price, channel, date_time FROM bid)";
    SqlSession session = session();
    session.with("CREATE TEMPORARY VIEW bids AS " + bids.substring(1, bids.length() - 1));
    String query =
        "SELECT auction, label, twice FROM labels(r => TABLE bids%s, on_time => DESCRIPTOR(date_time))"
            .formatted(partitions);
    assertThat(session.plan(query)).contains("ProcessTableFunction(").doesNotContain("Millrace");
    assertThat(session.rows(query))
        .isEqualTo(session().rows("SELECT auction, SUBSTRING(channel, 2), price * 2 FROM bid"));
  }
}
