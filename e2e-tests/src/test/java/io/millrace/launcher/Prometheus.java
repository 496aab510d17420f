// SPDX-License-Identifier: Apache-2.0
package io.millrace.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.millrace.process.Await;
import io.millrace.process.LoggedProcess;
import io.millrace.services.LoopbackPort;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/** A real Prometheus with the project's configuration, which reads metrics of this machine. */
final class Prometheus implements AutoCloseable {
  private static final Path PROGRAM = Path.of("target/prometheus/usr/bin/prometheus");
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String LOCAL_TARGETS = "targets: \\[\"localhost:.*\\]";

  private final HttpClient client = HttpClient.newHttpClient();
  private final int port;
  private final LoggedProcess process;

  private Prometheus(int port, LoggedProcess process) {
    this.port = port;
    this.process = process;
  }

  /** Whether the program is there: {@code containers/setup.sh} brings it. */
  static boolean isThere() {
    return Files.isExecutable(PROGRAM);
  }

  /**
   * Starts the server, and returns when it answers.
   *
   * @param configuration the project's {@code prometheus.yml}
   * @param targets take the place of the ports of a local cluster
   */
  static Prometheus start(Path folder, Path configuration, List<Integer> targets) throws Exception {
    String addresses =
        String.join(", ", targets.stream().map(target -> "\"localhost:" + target + "\"").toList());
    Path own = folder.resolve("prometheus.yml");
    String text = Files.readString(configuration);
    String changed =
        text.replaceFirst(LOCAL_TARGETS, "targets: [" + addresses + "]")
            .replaceFirst("scrape_interval: 5s", "scrape_interval: 1s");
    if (!changed.contains(addresses)) {
      throw new AssertionError("expected targets of a local cluster in " + text);
    }
    Files.writeString(own, changed);
    int port = LoopbackPort.free();
    LoggedProcess process =
        LoggedProcess.start(
            "prometheus",
            folder.resolve("prometheus.log"),
            new ProcessBuilder(
                PROGRAM.toAbsolutePath().toString(),
                "--config.file=" + own,
                "--storage.tsdb.path=" + folder.resolve("prometheus"),
                "--web.listen-address=127.0.0.1:" + port));
    Prometheus server = new Prometheus(port, process);
    Await.until("Prometheus answers", LIMIT, server::isReady, process::diagnosis);
    return server;
  }

  private boolean isReady() throws Exception {
    if (!process.isAlive()) {
      throw new AssertionError(process.diagnosis());
    }
    try {
      return get("/-/ready").statusCode() == 200;
    } catch (IOException e) {
      return false;
    }
  }

  /** The number of series that a query answers with now. */
  int series(String query) throws Exception {
    HttpResponse<String> response = get("/api/v1/query?query=" + URLEncoder.encode(query, UTF_8));
    JsonNode answer = new ObjectMapper().readTree(response.body());
    if (!answer.path("status").asText().equals("success")) {
      throw new AssertionError(query + ": " + response.body());
    }
    return answer.path("data").path("result").size();
  }

  String diagnosis() {
    return process.diagnosis();
  }

  private HttpResponse<String> get(String path) throws Exception {
    URI address = URI.create("http://127.0.0.1:" + port + path);
    return client.send(HttpRequest.newBuilder(address).build(), BodyHandlers.ofString(UTF_8));
  }

  @Override
  public void close() {
    process.close();
  }
}
