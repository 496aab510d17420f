// SPDX-License-Identifier: Apache-2.0
package io.millrace.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The commands {@code millrace cluster} for a cluster of a test.
 *
 * @param folder of the test; the cluster's files, and what the commands print, are in it
 * @param environment variables of the cluster's processes besides those of this process
 */
record MillraceCluster(Path folder, Map<String, String> environment) {
  private static final Pattern JOB = Pattern.compile("submitted with JobID (\\p{XDigit}{32})");

  MillraceCluster(Path folder) {
    this(folder, Map.of());
  }

  /** Runs a command to its end, which may be a failure. */
  MillraceProcess command(String... arguments) throws Exception {
    List<String> all = new ArrayList<>(List.of("--folder=" + files()));
    all.addAll(List.of(arguments));
    boolean isStart = arguments[0].equals("up");
    return MillraceProcess.cluster(
        folder, isStart ? environment : Map.of(), all.toArray(String[]::new));
  }

  /** The folder of the cluster's files. */
  Path files() {
    return folder.resolve("cluster");
  }

  /** Runs a command that must succeed. */
  MillraceProcess run(String... arguments) throws Exception {
    MillraceProcess process = command(arguments);
    assertThat(process.exitCode()).as(process.error() + process.output()).isZero();
    return process;
  }

  /**
   * Submits a job that goes on.
   *
   * @return its id
   */
  String submit(String... job) throws Exception {
    List<String> all = new ArrayList<>(List.of("run", "--detached"));
    all.addAll(List.of(job));
    String submitted = run(all.toArray(String[]::new)).output();
    Matcher id = JOB.matcher(submitted);
    assertThat(id.find()).as(submitted).isTrue();
    return id.group(1);
  }

  /** The log of a process so far. */
  String log(String process) throws IOException {
    return Files.readString(files().resolve("log").resolve(process + ".log"), UTF_8);
  }

  /** What the process with this {@code --metrics-port} gives Prometheus. */
  static String metrics(int port) throws Exception {
    HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port)).build();
    return HttpClient.newHttpClient().send(request, BodyHandlers.ofString(UTF_8)).body();
  }

  /** The first of {@code count} ports that follow each other and are free now. */
  static int freePorts(int count) throws IOException {
    for (; ; ) {
      int first;
      try (ServerSocket socket = new ServerSocket(0)) {
        first = socket.getLocalPort();
      }
      int next = first;
      while (next < first + count && isFree(next)) {
        next++;
      }
      if (next == first + count) {
        return first;
      }
    }
  }

  private static boolean isFree(int port) {
    try (ServerSocket socket = new ServerSocket(port)) {
      return socket.isBound();
    } catch (IOException | IllegalArgumentException e) {
      return false;
    }
  }
}
