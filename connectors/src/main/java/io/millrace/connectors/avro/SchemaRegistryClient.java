// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.avro;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.core.JsonProcessingException;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;

/**
 * Asks a {@link SchemaRegistry}. A request that fails for a reason that may pass is repeated twice.
 * Used by one thread.
 */
@PublicEvolving
public final class SchemaRegistryClient {
  private static final String CONTENT = "application/vnd.schemaregistry.v1+json";
  private static final Duration TIMEOUT = Duration.ofSeconds(10);
  private static final int ATTEMPTS = 3;
  private static final long FIRST_PAUSE_MILLIS = 100;
  private static final int MAX_SHOWN = 200;
  private static final int TOO_MANY_REQUESTS = 429;
  private static final int SCHEMA_NOT_FOUND = 40403;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final SchemaRegistry registry;
  private final Duration timeout;
  private final HttpClient client;

  public SchemaRegistryClient(SchemaRegistry registry) {
    this(registry, TIMEOUT);
  }

  /**
   * @param timeout of a request, with its whole answer
   */
  SchemaRegistryClient(SchemaRegistry registry, Duration timeout) {
    this.registry = registry;
    this.timeout = timeout;
    this.client = HttpClient.newBuilder().connectTimeout(timeout).build();
  }

  /**
   * The text of a schema; empty if the registry has none with this id.
   *
   * @throws IllegalArgumentException if it is a schema of another format than Avro, or refers to
   *     other schemas
   * @throws UncheckedIOException if the registry gives no answer, or refuses to
   */
  public Optional<String> schema(int id) {
    String path = "schemas/ids/" + id;
    HttpResponse<String> response = send(path, request(path).GET().build());
    if (isSchemaNotFound(response)) {
      return Optional.empty();
    }
    JsonNode answer = answer(path, response);
    String type = answer.path("schemaType").asText("AVRO");
    if (!type.equals("AVRO")) {
      throw new IllegalArgumentException("expected a schema of Avro, got one of " + type);
    }
    if (!answer.path("references").isEmpty()) {
      throw new IllegalArgumentException("schemas that refer to other schemas are not read");
    }
    return Optional.of(text(path, answer.path("schema")));
  }

  // Another server, such as a proxy before the registry, answers with the same status.
  private static boolean isSchemaNotFound(HttpResponse<String> response) {
    if (response.statusCode() != HttpURLConnection.HTTP_NOT_FOUND) {
      return false;
    }
    try {
      return MAPPER.readTree(response.body()).path("error_code").asInt() == SCHEMA_NOT_FOUND;
    } catch (JsonProcessingException e) {
      return false;
    }
  }

  /**
   * Registers a schema under a subject, unless it is there.
   *
   * @param schema the text of a schema of Avro
   * @return its id
   * @throws UncheckedIOException if the registry gives no answer, or refuses to, also because the
   *     schema is not compatible with those before it
   */
  public int register(String subject, String schema) {
    String encoded = URLEncoder.encode(subject, StandardCharsets.UTF_8).replace("+", "%20");
    String path = "subjects/" + encoded + "/versions";
    String body = MAPPER.createObjectNode().put("schema", schema).toString();
    HttpRequest request =
        request(path)
            .header("Content-Type", CONTENT)
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
    JsonNode id = answer(path, send(path, request)).path("id");
    if (!id.canConvertToInt()) {
      throw failure(path, "expected the id of the schema", null);
    }
    return id.intValue();
  }

  private HttpRequest.Builder request(String path) {
    URI uri = registry.address().resolve(path);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri).timeout(timeout).header("Accept", CONTENT);
    if (registry.hasCredentials()) {
      String credentials = registry.user() + ":" + registry.password();
      byte[] bytes = credentials.getBytes(StandardCharsets.UTF_8);
      request.header("Authorization", "Basic " + Base64.getEncoder().encodeToString(bytes));
    }
    return request;
  }

  private HttpResponse<String> send(String path, HttpRequest request) {
    for (int attempt = 1; ; attempt++) {
      try {
        HttpResponse<String> response = exchange(request);
        if (attempt == ATTEMPTS || !mayPass(response.statusCode())) {
          return response;
        }
      } catch (IOException e) {
        if (attempt == ATTEMPTS) {
          throw failure(path, "it cannot be reached: " + e, e);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw failure(path, "interrupted", new IOException(e));
      }
      pause(path, attempt);
    }
  }

  // The timeout of a request ends with the headers of its answer.
  private HttpResponse<String> exchange(HttpRequest request)
      throws IOException, InterruptedException {
    CompletableFuture<HttpResponse<String>> response =
        client.sendAsync(request, HttpResponse.BodyHandlers.ofString());
    try {
      return response.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new IOException("no answer within " + timeout.toMillis() + " ms", e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
    } finally {
      response.cancel(true);
    }
  }

  private static boolean mayPass(int status) {
    return status >= HttpURLConnection.HTTP_INTERNAL_ERROR || status == TOO_MANY_REQUESTS;
  }

  private void pause(String path, int attempt) {
    try {
      Thread.sleep(FIRST_PAUSE_MILLIS << attempt);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw failure(path, "interrupted", new IOException(e));
    }
  }

  private JsonNode answer(String path, HttpResponse<String> response) {
    String body = response.body();
    if (response.statusCode() != HttpURLConnection.HTTP_OK) {
      throw failure(path, "HTTP " + response.statusCode() + " " + shown(body), null);
    }
    try {
      return MAPPER.readTree(body);
    } catch (JsonProcessingException e) {
      throw failure(path, "expected JSON, got " + shown(body), e);
    }
  }

  private String text(String path, JsonNode value) {
    if (!value.isTextual()) {
      throw failure(path, "expected the text of a schema", null);
    }
    return value.textValue();
  }

  private static String shown(String body) {
    return body.length() <= MAX_SHOWN ? body : body.substring(0, MAX_SHOWN) + "...";
  }

  private UncheckedIOException failure(String path, String what, IOException cause) {
    String message = "registry of schemas at " + registry + path + ": " + what;
    return new UncheckedIOException(message, new IOException(message, cause));
  }
}
