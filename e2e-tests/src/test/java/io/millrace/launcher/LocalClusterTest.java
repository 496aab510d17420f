// SPDX-License-Identifier: Apache-2.0
package io.millrace.launcher;

import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.process.Await;
import io.millrace.process.CommittedFiles;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cluster of processes as users start it: jobs, status, metrics and its end. */
@Tag("cluster")
class LocalClusterTest {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final Pattern PROCESS = Pattern.compile("started, process (\\d+)");
  private static final Pattern METRIC = Pattern.compile("flink_\\w+");
  private static final Path DEPLOY =
      Path.of(System.getProperty("millrace.jobs.build")).resolveSibling("deploy");
  private static final Path DASHBOARD = DEPLOY.resolve("grafana/dashboards/millrace.json");

  @TempDir private Path folder;

  private MillraceCluster cluster;

  @BeforeEach
  void create() {
    cluster = new MillraceCluster(folder);
  }

  @AfterEach
  void stop() throws Exception {
    cluster.run("down");
  }

  @Test
  void runsJobsAndTellsWhatTheyDo() throws Exception {
    int metricsPort = MillraceCluster.freePorts(2);
    String started = up("--metrics-port=" + metricsPort).output();
    List<Long> processes =
        PROCESS.matcher(started).results().map(found -> Long.valueOf(found.group(1))).toList();
    assertThat(processes).hasSize(2).allMatch(LocalClusterTest::isAlive);

    String finished =
        cluster.run("run", "etl", "--events=5000", "--output=" + folder.resolve("out")).output();
    assertThat(finished).contains("rows out     5,000");
    assertThat(CommittedFiles.lines(folder.resolve("out"))).hasSize(5_000);
    assertThat(cluster.log("taskmanager-1")).content().contains("running on ");

    String job = startEndlessJob();
    assertThat(cluster.run("status").output())
        .contains("0 of 2 slots free", "StreamingEtl: FINISHED", job + " StreamingEtl: RUNNING");
    assertThat(cluster.run("status", job).output())
        .contains("KeyBy(auction)", "checkpoints:", "plan:", "WindowAggregate(groupBy=[auction]");
    answersEachMetricOfTheDashboard(metricsPort);
    if (Prometheus.isThere()) {
      answersEachQueryOfTheDashboard(metricsPort);
    }

    cluster.run("down");
    assertThat(processes).noneMatch(LocalClusterTest::isAlive);
  }

  private MillraceProcess up(String option) throws Exception {
    return cluster.run("up", "--port=0", "--memory=1300m", option);
  }

  @Test
  void saysInOneLineWhatIsWrong() throws Exception {
    assertRefused(1, "no cluster runs in", "status");
    assertRefused(2, "expected at least 1 for --slots", "up", "--port=0", "--slots=0");
    assertRefused(2, "expected a size such as 2g", "up", "--port=0", "--memory=much");
    assertRefused(1, "the memory of a TaskManager is too small", "up", "--port=0", "--memory=300m");
    try (ServerSocket taken = new ServerSocket(0)) {
      String port = String.valueOf(taken.getLocalPort());
      assertRefused(
          1, "port " + port + " cannot be used", "up", "--port=" + port, "--memory=1300m");
    }
  }

  private void assertRefused(int exitCode, String message, String... arguments) throws Exception {
    MillraceProcess refused = cluster.command(arguments);
    assertThat(refused.exitCode()).as(refused.error()).isEqualTo(exitCode);
    assertThat(refused.error().lines().toList())
        .singleElement()
        .asString()
        .startsWith("millrace cluster: ")
        .contains(message);
  }

  private String startEndlessJob() throws Exception {
    return cluster.submit(
        "etl",
        "--events=0",
        "--rate=10000",
        "--group-by=auction",
        "--aggregates=COUNT(*) AS bids",
        "--window-time=date_time",
        "--tumble=10s",
        "--checkpoint-interval=200ms",
        "--sink=discard");
  }

  private static void answersEachMetricOfTheDashboard(int metricsPort) throws Exception {
    Set<String> wanted =
        METRIC
            .matcher(Files.readString(DASHBOARD))
            .results()
            .map(found -> found.group())
            .collect(Collectors.toSet());
    assertThat(wanted).hasSizeGreaterThan(20);
    List<String> missing = new ArrayList<>(wanted);
    Await.until(
        "all metrics of the dashboard are there",
        LIMIT,
        () -> {
          String metrics =
              MillraceCluster.metrics(metricsPort) + MillraceCluster.metrics(metricsPort + 1);
          missing.removeIf(name -> metrics.contains("\n" + name + "{"));
          return missing.isEmpty();
        },
        () -> "still missing: " + missing);
  }

  private void answersEachQueryOfTheDashboard(int metricsPort) throws Exception {
    JsonNode panels = new ObjectMapper().readTree(DASHBOARD.toFile()).path("panels");
    List<String> missing = new ArrayList<>(panels.findValuesAsText("expr"));
    assertThat(missing).hasSizeGreaterThan(20);
    try (Prometheus prometheus =
        Prometheus.start(
            folder, DEPLOY.resolve("prometheus.yml"), List.of(metricsPort, metricsPort + 1))) {
      Await.until(
          "each query of the dashboard is answered",
          LIMIT,
          () -> {
            for (String query : List.copyOf(missing)) {
              if (prometheus.series(query) > 0) {
                missing.remove(query);
              }
            }
            return missing.isEmpty();
          },
          () -> "not answered: " + missing + prometheus.diagnosis());
    }
  }

  private static boolean isAlive(long process) {
    return ProcessHandle.of(process).filter(ProcessHandle::isAlive).isPresent();
  }
}
