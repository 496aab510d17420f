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
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.functions.ScalarFunction;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions that compute micro-batches, in plans of Flink's. */
@ExtendWith(NothingHeldExtension.class)
class MicroBatchFunctionTest {
  private static final int BIDS = 2_000;
  private static final int MANY_BIDS = 20_000;
  private static final String VIEW =
      "CREATE TEMPORARY VIEW bids AS SELECT auction, price, channel, date_time FROM bid";
  private static final String LABELS =
      "SELECT %s FROM labels(r => TABLE bids, on_time => DESCRIPTOR(date_time))";
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

  /** The number of elements of an array. */
  public static final class Elements extends MicroBatchScalarFunction {
    private static final long serialVersionUID = 1L;

    public Elements() {
      super("elements ARRAY<STRING>", "CARDINALITY(elements)");
    }
  }

  /** The number of entries of a map. */
  public static final class Entries extends MicroBatchScalarFunction {
    private static final long serialVersionUID = 1L;

    public Entries() {
      super("entries MAP<STRING, BIGINT>", "CARDINALITY(entries)");
    }
  }

  /** Its argument; fails once behind the first checkpoint that has rows. */
  public static final class FailOnce extends ScalarFunction {
    private static final long serialVersionUID = 1L;
    private static final AtomicBoolean HAS_FAILED = new AtomicBoolean();
    private static volatile Path checkpoints;
    private transient int rows;

    static void behindCheckpointIn(Path folder) {
      checkpoints = folder;
      HAS_FAILED.set(false);
    }

    @Override
    public boolean isDeterministic() {
      return false;
    }

    public long eval(long value) throws Exception {
      rows++;
      if (!HAS_FAILED.get() && rows < BIDS) {
        LockSupport.parkNanos(1_000_000);
        if (rows > 100 && isThereACheckpoint() && HAS_FAILED.compareAndSet(false, true)) {
          throw new IllegalStateException("fails once");
        }
      }
      return value;
    }

    private static boolean isThereACheckpoint() throws IOException {
      try (Stream<Path> files = Files.walk(checkpoints)) {
        return files.anyMatch(file -> file.endsWith("_metadata"));
      } catch (UncheckedIOException e) {
        // Flink deleted a checkpoint meanwhile.
        return false;
      }
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
    return session(flink.environment(2), BIDS);
  }

  private static SqlSession session(StreamExecutionEnvironment environment, int bids) {
    return new SqlSession(flink, SqlMode.OFF, environment)
        .with(
            Content.BID_ROWS.createTable("bid", bids),
            "CREATE TEMPORARY FUNCTION label AS '" + Label.class.getName() + "'",
            "CREATE TEMPORARY FUNCTION labels AS '" + Labels.class.getName() + "'",
            "CREATE TEMPORARY FUNCTION divided AS '" + Divided.class.getName() + "'",
            "CREATE TEMPORARY FUNCTION elements AS '" + Elements.class.getName() + "'",
            "CREATE TEMPORARY FUNCTION entries AS '" + Entries.class.getName() + "'",
            "CREATE TEMPORARY FUNCTION fail_once AS '" + FailOnce.class.getName() + "'",
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
  void anOnlyArgumentIsAnArray() throws Exception {
    String array =
        "CASE MOD(auction, 3) WHEN 0 THEN ARRAY[channel] WHEN 1 THEN ARRAY[channel, url] END";
    assertThat(session().rows("SELECT elements(" + array + ") FROM bid"))
        .isEqualTo(session().rows("SELECT CARDINALITY(" + array + ") FROM bid"));
  }

  @Test
  void anOnlyArgumentIsAMap() throws Exception {
    String map = "CASE MOD(auction, 2) WHEN 0 THEN MAP[channel, price, url, auction] END";
    assertThat(session().rows("SELECT entries(" + map + ") FROM bid"))
        .isEqualTo(session().rows("SELECT CARDINALITY(" + map + ") FROM bid"));
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

  @Test
  void manyRowsLeaveInTheirOrderWithoutAWatermark() throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    environment.getConfig().setAutoWatermarkInterval(Duration.ofDays(1).toMillis());
    SqlSession session = session(environment, MANY_BIDS).with(VIEW);
    assertThat(session.changes(LABELS.formatted("auction, label, twice")))
        .isEqualTo(
            session(flink.environment(1), MANY_BIDS)
                .changes("SELECT auction, SUBSTRING(channel, 2), price * 2 FROM bid"));
  }

  @Test
  void rowsThatWaitAreKeptInCheckpoints(@TempDir Path folder) throws Exception {
    Configuration options = new Configuration();
    options.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(50));
    options.set(CheckpointingOptions.CHECKPOINT_STORAGE, "filesystem");
    options.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, folder.toUri().toString());
    options.set(PipelineOptions.AUTO_WATERMARK_INTERVAL, Duration.ofDays(1));
    StreamExecutionEnvironment environment = flink.environment(1, options);
    Configuration restarts = new Configuration();
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ZERO);
    environment.configure(restarts);
    FailOnce.behindCheckpointIn(folder);
    SqlSession session =
        session(environment, BIDS).with(VIEW.replace("auction,", "fail_once(auction) AS auction,"));
    Map<Row, Row> last = new HashMap<>();
    for (Row change :
        session.changes(
            LABELS.formatted("auction, label, twice, COUNT(*)")
                + " GROUP BY auction, label, twice")) {
      if (change.getKind() != RowKind.UPDATE_BEFORE) {
        change.setKind(RowKind.INSERT);
        last.put(Row.project(change, new int[] {0, 1, 2}), change);
      }
    }
    assertThat(FailOnce.HAS_FAILED).isTrue();
    assertThat(last.values())
        .containsExactlyInAnyOrderElementsOf(
            session()
                .rows(
                    "SELECT auction, SUBSTRING(channel, 2), price * 2, COUNT(*) FROM bid GROUP BY auction, SUBSTRING(channel, 2), price * 2")
                .keySet());
  }
}
