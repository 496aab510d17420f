// SPDX-License-Identifier: Apache-2.0
package io.millrace.kafka;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/**
 * A registry of schemas on the loopback interface: schemas by id, and new versions of subjects, as
 * Confluent's registry has them.
 */
public final class RegistryServer implements AutoCloseable {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String IDS = "/schemas/ids/";
  private static final String SUBJECTS = "/subjects/";
  private static final int FIRST_ID = 100_001;

  private final HttpServer server;
  private final List<String> schemas = new ArrayList<>();
  private final List<String> requests = new ArrayList<>();
  private String credentials;
  private String answer;
  private int failures;

  /** Starts it on a free port, without credentials. */
  public RegistryServer() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::handle);
    server.start();
  }

  public String address() {
    return "http://" + InetAddress.getLoopbackAddress().getHostAddress() + ":" + port();
  }

  private int port() {
    return server.getAddress().getPort();
  }

  /** Asks for basic credentials from now on. */
  public synchronized void protect(String user, String password) {
    String text = user + ":" + password;
    credentials =
        "Basic " + Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Fails the next requests. */
  synchronized void fail(int count) {
    failures = count;
  }

  /** Answers each request for a schema with this body from now on. */
  synchronized void answerWith(String body) {
    answer = body;
  }

  /** Adds a schema; its id. */
  synchronized int add(String schema) {
    if (!schemas.contains(schema)) {
      schemas.add(schema);
    }
    return FIRST_ID + schemas.indexOf(schema);
  }

  /** The method and path of each request. */
  synchronized List<String> requests() {
    return List.copyOf(requests);
  }

  private synchronized void handle(HttpExchange exchange) throws IOException {
    requests.add(exchange.getRequestMethod() + " " + exchange.getRequestURI().getRawPath());
    String given = exchange.getRequestHeaders().getFirst("Authorization");
    if (failures > 0) {
      failures--;
      send(exchange, 503, "{\"error_code\":50003,\"message\":\"not now\"}");
    } else if (credentials != null && !credentials.equals(given)) {
      send(exchange, 401, "{\"error_code\":401,\"message\":\"Unauthorized\"}");
    } else {
      answer(exchange);
    }
  }

  private void answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    if (path.startsWith(IDS)) {
      int index = Integer.parseInt(path.substring(IDS.length())) - FIRST_ID;
      Optional<String> schema =
          index >= 0 && index < schemas.size() ? Optional.of(schemas.get(index)) : Optional.empty();
      if (answer != null) {
        send(exchange, 200, answer);
      } else if (schema.isPresent()) {
        send(exchange, 200, MAPPER.createObjectNode().put("schema", schema.get()).toString());
      } else {
        send(exchange, 404, "{\"error_code\":40403,\"message\":\"Schema not found\"}");
      }
    } else if (!path.startsWith(SUBJECTS)) {
      send(exchange, 404, "<html>");
    } else {
      String schema = MAPPER.readTree(exchange.getRequestBody()).path("schema").textValue();
      send(exchange, 200, MAPPER.createObjectNode().put("id", add(schema)).toString());
    }
  }

  private static void send(HttpExchange exchange, int status, String body) throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(bytes);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
