// SPDX-License-Identifier: Apache-2.0
package io.millrace.launcher;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.kafka.RegistryServer;
import io.millrace.postgres.Sql;
import io.millrace.process.Await;
import io.millrace.services.Broker;
import io.millrace.services.BrokerSecurity;
import io.millrace.services.Database;
import io.millrace.services.KafkaTopic;
import io.millrace.services.Services;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Passwords of Kafka, PostgreSQL and a registry of schemas are in nothing that a cluster and its
 * clients say: what commands print, logs, each page of the REST interface with plans, options,
 * metrics and exceptions, what {@code millrace status} explains, metrics for Prometheus, and
 * checkpoints. One job runs; others fail, each because one of the passwords is wrong.
 */
@Tag("cluster")
class CredentialsOnClusterTest {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final int BIDS = 500;
  private static final String USER = "reader";
  private static final Pattern WEB_UI = Pattern.compile("web UI: (http://localhost:\\d+)");

  private static final String CONFIGURATION =
      """
      source:
        type: kafka
        kafka: {bootstrap-servers: '%1$s', topic: credentials-in, properties: {%2$s}}
        schema: {auction: BIGINT NOT NULL, price: BIGINT NOT NULL}
      bad-rows: {path: '%3$s'}
      sink:
        type: [kafka, postgres]
        kafka:
          bootstrap-servers: '%1$s'
          topic: credentials-out
          format: avro
          transactional-id-prefix: %4$s
          properties: {%2$s}
        avro: {registry: '%5$s', registry-user: %6$s, registry-password-variable: %7$s}
        postgres: {url: '%8$s', user: %6$s, password-variable: %9$s, table: credentials, id: %4$s}
      checkpoint: {interval: 300 ms}
      """;

  /** A password that is in no other text. */
  private enum Secret {
    KAFKA,
    TRUST_STORE,
    DATABASE,
    REGISTRY,
    WRONG_KAFKA,
    WRONG_TRUST_STORE,
    WRONG_DATABASE,
    WRONG_REGISTRY;

    /** The password that a job is given where this one is right: this one or a wrong one. */
    Secret or(Optional<Secret> wrong) {
      return wrong.filter(other -> other.name().equals("WRONG_" + name())).orElse(this);
    }

    String value() {
      return "7Qx" + name().toLowerCase(Locale.ROOT).replace("_", "") + "9zW";
    }

    /** The environment variable with it. */
    String variable() {
      return name() + "_VARIABLE";
    }

    /** Whether a text has it, also in the form in which HTTP sends it. */
    boolean isIn(String text) {
      byte[] credentials = (USER + ":" + value()).getBytes(ISO_8859_1);
      return text.contains(value())
          || text.contains(Base64.getEncoder().encodeToString(credentials));
    }
  }

  /** All that is said is in files of this folder. */
  @TempDir private Path said;

  @TempDir private Path own;

  private BrokerSecurity security;
  private Broker broker;
  private Database database;
  private RegistryServer registry;
  private MillraceCluster cluster;

  @BeforeEach
  void start() throws Exception {
    security = BrokerSecurity.create(own, USER, Secret.KAFKA.value());
    security.writeTrustStore(own.resolve("trust.p12"), Secret.TRUST_STORE.value());
    broker = Services.startSecuredBroker(security);
    database = Services.startDatabase();
    new Sql(database)
        .execute(
            "CREATE ROLE reader SUPERUSER LOGIN PASSWORD '" + Secret.DATABASE.value() + "'",
            "CREATE TABLE credentials (auction bigint NOT NULL, price bigint NOT NULL)");
    registry = new RegistryServer();
    registry.protect(USER, Secret.REGISTRY.value());
    cluster =
        new MillraceCluster(
            said,
            Stream.of(Secret.values()).collect(Collectors.toMap(Secret::variable, Secret::value)));
  }

  @AfterEach
  void stop() throws Exception {
    if (cluster != null) {
      cluster.run("down");
    }
    IOUtils.closeAllQuietly(registry, broker, database);
  }

  @Test
  void nothingThatIsSaidHasPasswords() throws Exception {
    int metricsPort = MillraceCluster.freePorts(2);
    RestPages pages = up(metricsPort);
    String job =
        cluster.submit(
            "--parallelism=1", "etl", "--config=" + configuration("right", Optional.empty()));
    awaitRows();
    cluster.run("status", job);
    pages.save(said.resolve("pages-while-it-runs"));
    Files.writeString(said.resolve("jobmanager.prom"), MillraceCluster.metrics(metricsPort));
    Files.writeString(said.resolve("taskmanager.prom"), MillraceCluster.metrics(metricsPort + 1));

    assertFails(Secret.WRONG_KAFKA, "Authentication failed");
    assertFails(Secret.WRONG_TRUST_STORE, "password was incorrect");
    assertFails(Secret.WRONG_DATABASE, "password authentication failed");
    assertFails(Secret.WRONG_REGISTRY, "HTTP 401");
    cluster.run("status");
    pages.save(said.resolve("pages-at-the-end"));
    cluster.run("down");

    assertSaid("sasl.jaas.config = [hidden]", "ssl.truststore.password = [hidden]");
    assertSaid("/plan\nHTTP 200", "/config\nHTTP 200", "plan:", "flink_taskmanager_job_task");
    assertThat(passwordsSaid()).isEmpty();
  }

  private RestPages up(int metricsPort) throws Exception {
    String started =
        cluster
            .run(
                "up",
                "--port=0",
                "--memory=1500m",
                "--slots=2",
                "--metrics-port=" + metricsPort,
                "-D",
                "restart-strategy.type=none")
            .output();
    Matcher address = WEB_UI.matcher(started);
    assertThat(address.find()).as(started).isTrue();
    return new RestPages(address.group(1));
  }

  private Path configuration(String name, Optional<Secret> wrong) throws IOException {
    String properties =
        security
            .clientProperties(
                Secret.KAFKA.or(wrong).value(),
                own.resolve("trust.p12"),
                Secret.TRUST_STORE.or(wrong).value())
            .entrySet()
            .stream()
            .map(property -> property.getKey() + ": '" + property.getValue() + "'")
            .collect(Collectors.joining(", "));
    return Files.writeString(
        own.resolve(name + ".yaml"),
        CONFIGURATION.formatted(
            broker.securedServers(),
            properties,
            own.resolve("bad-rows-" + name),
            name,
            registry.address(),
            USER,
            Secret.REGISTRY.or(wrong).variable(),
            database.jdbcUrl(),
            Secret.DATABASE.or(wrong).variable()));
  }

  private void awaitRows() throws Exception {
    KafkaTopic in = KafkaTopic.create(broker, "credentials-in", 1);
    KafkaTopic out = KafkaTopic.create(broker, "credentials-out", 1);
    in.sendValues(
        IntStream.range(0, BIDS).mapToObj("{\"auction\":%d,\"price\":5}"::formatted).toList());
    Sql sql = new Sql(database);
    Await.until(
        "the job has written all rows",
        LIMIT,
        () ->
            sql.number("SELECT count(*) FROM credentials") == BIDS
                && out.records("read_committed").size() == BIDS,
        () -> content(cluster.log("taskmanager-1")));
  }

  private void assertFails(Secret wrong, String reason) throws Exception {
    Path configuration = configuration(wrong.name().toLowerCase(Locale.ROOT), Optional.of(wrong));
    MillraceProcess client =
        cluster.command("run", "--parallelism=1", "etl", "--config=" + configuration);
    assertThat(client.exitCode()).as(client.output()).isNotZero();
    assertThat(client.output() + client.error()).contains(reason);
  }

  private void assertSaid(String... texts) throws IOException {
    for (String text : texts) {
      assertThat(files()).as(text).anyMatch(file -> content(file).contains(text));
    }
  }

  private List<String> passwordsSaid() throws IOException {
    List<String> found = new ArrayList<>();
    for (Path file : files()) {
      String content = content(file);
      Stream.of(Secret.values())
          .filter(secret -> secret.isIn(content))
          .forEach(secret -> found.add(said.relativize(file) + " has the password " + secret));
    }
    return found;
  }

  private static String content(Path file) {
    try {
      return Files.readString(file, ISO_8859_1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Without the temporary folder, in which Flink keeps jobs that it was sent. */
  private List<Path> files() throws IOException {
    Path temporary = cluster.files().resolve("tmp");
    try (Stream<Path> all = Files.walk(said)) {
      return all.filter(file -> Files.isRegularFile(file) && !file.startsWith(temporary)).toList();
    }
  }
}
