// SPDX-License-Identifier: Apache-2.0
package io.millrace.postgres;

import io.millrace.connectors.postgres.PostgresConnectionOptions;
import io.millrace.connectors.postgres.sink.PostgresSinkOptions;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.services.Database;
import java.time.Duration;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** What jobs of these tests have in common. */
final class PostgresJobs {
  private static final Duration CHECKPOINT_INTERVAL = Duration.ofMillis(50);

  private PostgresJobs() {}

  static PostgresConnectionOptions connection(Database database) {
    String password = database.password();
    return PostgresConnectionOptions.of(database.jdbcUrl(), database.user(), () -> password);
  }

  /** Options of an exactly-once sink for a table in the schema {@code public}. */
  static PostgresSinkOptions.Builder sink(Database database, String table) {
    return PostgresSinkOptions.builder()
        .connection(connection(database))
        .table("public", table)
        .sinkId(table);
  }

  /** An environment with frequent checkpoints, whose jobs do not restart. */
  static StreamExecutionEnvironment environment(
      FlinkCluster flink, int parallelism, Configuration options) {
    StreamExecutionEnvironment environment = flink.environment(parallelism, options);
    environment.enableCheckpointing(CHECKPOINT_INTERVAL.toMillis());
    return environment;
  }

  /** An environment with frequent checkpoints, whose jobs restart whenever they fail. */
  static StreamExecutionEnvironment restarting(FlinkCluster flink, int parallelism) {
    StreamExecutionEnvironment environment = environment(flink, parallelism, new Configuration());
    Configuration restart = new Configuration();
    restart.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    restart.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, Integer.MAX_VALUE);
    restart.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
    environment.configure(restart);
    return environment;
  }
}
