// SPDX-License-Identifier: Apache-2.0
package io.millrace.postgres;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.connectors.postgres.PasswordSupplier;
import io.millrace.connectors.postgres.PostgresConnectionOptions;
import io.millrace.connectors.postgres.dimension.PostgresDimension;
import io.millrace.connectors.postgres.sink.PostgresSinkOptions;
import io.millrace.connectors.postgres.sink.PostgresSinks;
import io.millrace.expression.Expressions;
import io.millrace.operators.api.ColumnStream;
import io.millrace.operators.lookup.Lookup;
import io.millrace.operators.testing.BatchCollector;
import io.millrace.operators.testing.FlinkCluster;
import io.millrace.operators.testing.FlinkJob;
import io.millrace.operators.testing.NothingHeldExtension;
import io.millrace.operators.testing.RecordingMetricReporter;
import io.millrace.services.SharedServices;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.ExceptionUtils;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.Appender;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** No password in what a job says, whether it runs or fails. */
@ExtendWith(NothingHeldExtension.class)
class CredentialsTest {
  private static final String PASSWORD = "Tr0ub4dor-is-secret";
  private static final Logger DRIVER_LOG = Logger.getLogger("org.postgresql");
  private static final String WRONG_PASSWORD = "Wr0ng-but-also-secret";

  @RegisterExtension static final SharedServices services = new SharedServices();
  @RegisterExtension static final FlinkCluster flink = new FlinkCluster();

  private final Queue<String> output = new ConcurrentLinkedQueue<>();
  private final RecordingAppender appender = new RecordingAppender();
  private final RecordingHandler handler = new RecordingHandler();
  private Map<String, Appender> others;
  private Level level;
  private Sql sql;

  private final class RecordingAppender extends AbstractAppender {
    RecordingAppender() {
      super("recording", null, null, true, Property.EMPTY_ARRAY);
    }

    @Override
    public void append(LogEvent event) {
      output.add(event.getMessage().getFormattedMessage());
      if (event.getThrown() != null) {
        output.add(ExceptionUtils.stringifyException(event.getThrown()));
      }
    }
  }

  /** The driver logs by the JDK's means. */
  private final class RecordingHandler extends Handler {
    @Override
    public void publish(LogRecord event) {
      output.add(new SimpleFormatter().format(event));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @BeforeEach
  void record() throws Exception {
    sql = new Sql(services.database());
    sql.execute(
        "CREATE ROLE writer LOGIN PASSWORD '" + PASSWORD + "'",
        "GRANT CREATE ON SCHEMA public TO writer",
        "CREATE TABLE credentials (name text, id bigint NOT NULL)",
        "GRANT ALL ON credentials TO writer",
        "GRANT ALL ON ALL TABLES IN SCHEMA public TO writer");
    LoggerContext context = (LoggerContext) LogManager.getContext(false);
    level = context.getConfiguration().getRootLogger().getLevel();
    DRIVER_LOG.setLevel(java.util.logging.Level.ALL);
    DRIVER_LOG.addHandler(handler);
    // Not to the console: there is a lot.
    LoggerConfig root = context.getConfiguration().getRootLogger();
    others = Map.copyOf(root.getAppenders());
    others.keySet().forEach(root::removeAppender);
    appender.start();
    context.getRootLogger().addAppender(appender);
    context.getConfiguration().getRootLogger().setLevel(Level.TRACE);
    context.updateLoggers();
  }

  @AfterEach
  void stop() throws Exception {
    DRIVER_LOG.removeHandler(handler);
    DRIVER_LOG.setLevel(null);
    LoggerContext context = (LoggerContext) LogManager.getContext(false);
    context.getConfiguration().getRootLogger().setLevel(level);
    context.getRootLogger().removeAppender(appender);
    LoggerConfig root = context.getConfiguration().getRootLogger();
    others.values().forEach(other -> root.addAppender(other, null, null));
    context.updateLoggers();
    appender.stop();
    sql.execute("DROP TABLE credentials", "DROP OWNED BY writer", "DROP ROLE writer");
  }

  private static PostgresConnectionOptions connection(String password) {
    return PostgresConnectionOptions.of(services.database().jdbcUrl(), "writer", () -> password);
  }

  private PostgresSinkOptions options(String password) {
    return PostgresSinkOptions.builder()
        .connection(connection(password))
        .table("public", "credentials")
        .stagingSchema("public")
        .sinkId("credentials")
        .retryTimeout(Duration.ZERO)
        .build();
  }

  private StreamExecutionEnvironment job(PostgresSinkOptions options) {
    StreamExecutionEnvironment environment = PostgresJobs.restarting(flink, 1);
    Failures<Long> failures = new Failures<>();
    failures.hurry();
    PostgresSinks.write(
        NumberedRows.batches(environment, 20, failures), NumberedRows.SCHEMA, options);
    output.add(options.toString());
    output.add(environment.getExecutionPlan());
    return environment;
  }

  @Test
  void nothingShowsPasswords() throws Exception {
    // The registry of other tests belongs to another user.
    sql.execute("DROP TABLE IF EXISTS millrace_writers");
    StreamExecutionEnvironment right = job(options(PASSWORD));
    flink.run(right);
    assertThat(NumberedRows.differences(sql, "credentials", 20)).isZero();

    StreamExecutionEnvironment wrong = job(options(WRONG_PASSWORD));
    wrong.configure(flink.environment(1).getConfiguration());
    FlinkJob failing = flink.submit(wrong);
    assertThatThrownBy(failing::await)
        .hasMessageContaining("password authentication failed for user \"writer\"")
        .satisfies(failure -> output.add(ExceptionUtils.stringifyException(failure)));
    List<String> metrics = RecordingMetricReporter.identifiers();
    assertThat(metrics).anyMatch(metric -> metric.contains("PostgreSQL public_credentials"));
    output.addAll(metrics);

    assertNoPasswords();
  }

  private void assertNoPasswords() {
    assertThat(output).anyMatch(line -> line.contains("password authentication failed"));
    assertThat(output).anyMatch(line -> line.contains("org.postgresql"));
    assertThat(output)
        .noneMatch(line -> line.contains(PASSWORD))
        .noneMatch(line -> line.contains(WRONG_PASSWORD));
  }

  private FlinkJob submitLookup(String password) throws Exception {
    StreamExecutionEnvironment environment = flink.environment(1);
    Failures<Long> failures = new Failures<>();
    failures.hurry();
    PostgresDimension dimension =
        PostgresDimension.ofTable(
            connection(password), "public", "credentials", NumberedRows.SCHEMA, "id");
    ColumnStream rows =
        ColumnStream.fromBatches(NumberedRows.batches(environment, 20, failures))
            .select(Expressions.col("id"))
            .lookup(Lookup.outer(dimension, "id"));
    new BatchCollector().collect(rows.toBatches());
    output.add(dimension.toString());
    output.add(rows.explain());
    output.add(environment.getExecutionPlan());
    return flink.submit(environment);
  }

  @Test
  void lookupsShowNoPasswords() throws Exception {
    submitLookup(PASSWORD).await();
    FlinkJob failing = submitLookup(WRONG_PASSWORD);
    assertThatThrownBy(failing::await)
        .hasMessageContaining(
            "the dimension table public.credentials cannot be read: FATAL: password authentication"
                + " failed for user \"writer\"")
        .satisfies(failure -> output.add(ExceptionUtils.stringifyException(failure)));
    output.addAll(RecordingMetricReporter.identifiers());
    assertThat(output).anyMatch(line -> line.contains("event=dimension_refresh_failed"));
    assertNoPasswords();
  }

  @Test
  void urlsWithPasswordsAreRefused() {
    for (String url :
        new String[] {
          "jdbc:postgresql://localhost/db?password=" + PASSWORD,
          "jdbc:postgresql://localhost/db?user=a&password=" + PASSWORD,
          "jdbc:postgresql://a:" + PASSWORD + "@localhost/db",
          "jdbc:postgresql://localhost:x/db?password=" + PASSWORD,
          "jdbc:postgresql://localhost/db?sslmode=require&sslpassword=" + PASSWORD,
          "jdbc:other:" + PASSWORD
        }) {
      assertThatThrownBy(() -> PostgresConnectionOptions.of(url, "a", () -> PASSWORD))
          .isInstanceOf(IllegalArgumentException.class)
          .satisfies(
              failure ->
                  assertThat(ExceptionUtils.stringifyException(failure)).doesNotContain(PASSWORD));
    }
    assertThat(output).noneMatch(line -> line.contains(PASSWORD));
    String parameters = "jdbc:postgresql://localhost/db?sslmode=require&sslrootcert=/secret";
    assertThat(PostgresConnectionOptions.of(parameters, "a", () -> PASSWORD))
        .hasToString("jdbc:postgresql://localhost/db as a");
  }

  @Test
  void environmentVariableThatIsMissingIsNamed() {
    assertThatThrownBy(() -> PasswordSupplier.fromEnvironment("MILLRACE_NO_SUCH_VARIABLE").get())
        .hasMessage("the environment variable MILLRACE_NO_SUCH_VARIABLE is not set");
  }
}
