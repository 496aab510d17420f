// SPDX-License-Identifier: Apache-2.0
package io.millrace.sql;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.operators.sql.table.SqlMode;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.process.Await;
import io.millrace.services.KafkaTopic;
import io.millrace.services.SharedServices;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.functions.ScalarFunction;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A job in SQL from topic to topic fails, and still writes each row once. */
@ExtendWith(NothingHeldExtension.class)
class KafkaTableExactlyOnceTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int FAILURES = 3;
  private static final int RECORDS = 20_000;

  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  /** Fails for a few rows, the first time that they come. */
  public static final class Faulty extends ScalarFunction {
    private static final long serialVersionUID = 1L;
    private static final AtomicLong ROWS = new AtomicLong();
    private static final AtomicInteger FAILED = new AtomicInteger();

    public long eval(long number) {
      if (ROWS.incrementAndGet() % 7_000 == 0 && FAILED.get() < FAILURES) {
        FAILED.incrementAndGet();
        throw new IllegalStateException("a failure of the test");
      }
      return number;
    }

    private static void reset() {
      ROWS.set(0);
      FAILED.set(0);
    }

    @Override
    public boolean isDeterministic() {
      return false;
    }
  }

  private static StreamExecutionEnvironment environment() {
    Configuration configuration = new Configuration();
    configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(200));
    StreamExecutionEnvironment environment = flink.environment(2, configuration);
    Configuration restarts = new Configuration();
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 100);
    restarts.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(100));
    environment.configure(restarts);
    return environment;
  }

  private static List<String> numbers(long first, long count) {
    return LongStream.range(first, first + count).mapToObj("{\"n\":%d}"::formatted).toList();
  }

  @ParameterizedTest
  @EnumSource(
      value = SqlMode.class,
      names = {"ON", "OFF"})
  void eachRowIsWrittenOnce(SqlMode mode) throws Exception {
    Faulty.reset();
    KafkaTopic in = KafkaTopic.create(services.broker(), "sql-once-in-" + mode, 3);
    KafkaTopic out = KafkaTopic.create(services.broker(), "sql-once-out-" + mode, 2);
    in.sendValues(numbers(0, RECORDS));
    SqlSession session =
        new SqlSession(flink, mode, environment())
            .with(
                "CREATE TEMPORARY FUNCTION faulty AS '" + Faulty.class.getName() + "'",
                "CREATE TEMPORARY TABLE numbers (n BIGINT NOT NULL) WITH ('connector' = 'millrace-kafka', 'topic' = '%s', 'properties.bootstrap.servers' = '%s', 'scan.startup.mode' = 'earliest-offset', 'format' = 'json')"
                    .formatted(in.name(), in.bootstrapServers()),
                "CREATE TEMPORARY TABLE copies (n BIGINT NOT NULL) WITH ('connector' = 'millrace-kafka', 'topic' = '%s', 'properties.bootstrap.servers' = '%s', 'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = '%s', 'format' = 'json')"
                    .formatted(out.name(), out.bootstrapServers(), out.name()));
    FlinkJob job = session.submit("INSERT INTO copies SELECT faulty(n) FROM numbers");
    long sent = RECORDS;
    while (Faulty.FAILED.get() < FAILURES) {
      in.sendValues(numbers(sent, 1_000));
      sent += 1_000;
    }
    long all = sent;
    Await.until(
        "all numbers are written",
        LIMIT,
        () -> out.read("read_committed").size() >= all,
        () -> "expected " + all);
    assertThat(out.read("read_committed").stream().sorted().toList())
        .isEqualTo(numbers(0, all).stream().sorted().toList());
    job.cancel();
  }
}
