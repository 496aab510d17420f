// SPDX-License-Identifier: Apache-2.0
package io.millrace.launcher;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/**
 * All that Flink's REST interface tells of a cluster and its jobs, which is what the web UI shows.
 *
 * @param address of the interface
 */
record RestPages(String address) {
  private static final List<String> OF_CLUSTER =
      List.of("/config", "/overview", "/datasets", "/jars", "/jobs", "/jobs/overview");
  private static final List<String> OF_JOB_MANAGER =
      List.of("/config", "/environment", "/log", "/logs", "/metrics", "/stdout", "/thread-dump");
  private static final List<String> OF_TASK_MANAGER =
      List.of("", "/log", "/logs", "/metrics", "/stdout", "/thread-dump");
  private static final List<String> OF_JOB =
      List.of(
          "",
          "/accumulators",
          "/checkpoints",
          "/checkpoints/config",
          "/config",
          "/exceptions?maxExceptions=100",
          "/jobmanager/config",
          "/jobmanager/environment",
          "/metrics",
          "/plan",
          "/resource-requirements");
  private static final List<String> OF_VERTEX =
      List.of(
          "",
          "/accumulators",
          "/backpressure",
          "/metrics",
          "/subtasks/accumulators",
          "/subtasktimes",
          "/taskmanagers",
          "/watermarks");
  private static final int METRICS_AT_ONCE = 20;

  private static final HttpClient CLIENT = HttpClient.newHttpClient();
  private static final ObjectMapper MAPPER = new ObjectMapper();

  /**
   * Writes each page to a file of its own, which begins with the page's path.
   *
   * @param folder is made
   */
  void save(Path folder) throws Exception {
    Files.createDirectories(folder);
    for (String path : paths()) {
      save(folder, path);
      if (path.endsWith("/metrics")) {
        saveMetrics(folder, path);
      }
    }
  }

  private List<String> paths() throws Exception {
    List<String> paths = new ArrayList<>(OF_CLUSTER);
    add(paths, "/jobmanager", OF_JOB_MANAGER);
    for (String id : ids("/taskmanagers", "taskmanagers")) {
      add(paths, "/taskmanagers/" + id, OF_TASK_MANAGER);
    }
    for (String job : ids("/jobs", "jobs")) {
      add(paths, "/jobs/" + job, OF_JOB);
      for (String vertex : ids("/jobs/" + job, "vertices")) {
        add(paths, "/jobs/" + job + "/vertices/" + vertex, OF_VERTEX);
      }
    }
    return paths;
  }

  private static void add(List<String> paths, String parent, List<String> children) {
    children.forEach(child -> paths.add(parent + child));
  }

  private List<String> ids(String path, String list) throws Exception {
    List<String> ids = new ArrayList<>();
    for (JsonNode item : MAPPER.readTree(get(path).body()).path(list)) {
      ids.add(item.path("id").asText());
    }
    return ids;
  }

  // The page of metrics has their names; their values are asked for by name.
  private void saveMetrics(Path folder, String path) throws Exception {
    List<String> names = new ArrayList<>();
    for (JsonNode metric : MAPPER.readTree(get(path).body())) {
      names.add(URLEncoder.encode(metric.path("id").asText(), UTF_8));
    }
    for (int i = 0; i < names.size(); i += METRICS_AT_ONCE) {
      List<String> some = names.subList(i, Math.min(names.size(), i + METRICS_AT_ONCE));
      save(folder, path + some.stream().collect(Collectors.joining(",", "?get=", "")));
    }
  }

  private void save(Path folder, String path) throws Exception {
    HttpResponse<String> page = get(path);
    Files.writeString(
        Files.createTempFile(folder, "page-", ".txt"),
        path + "\nHTTP " + page.statusCode() + "\n" + page.body());
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return CLIENT.send(
        HttpRequest.newBuilder(URI.create(address + path)).build(), BodyHandlers.ofString(UTF_8));
  }
}
