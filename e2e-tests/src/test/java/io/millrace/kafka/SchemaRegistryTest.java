// SPDX-License-Identifier: Apache-2.0
package io.millrace.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.connectors.avro.SchemaRegistry;
import io.millrace.connectors.avro.SchemaRegistryClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Schemas are found and registered over HTTP. */
class SchemaRegistryTest {
  private static final String SCHEMA = "{\"type\":\"string\",\"doc\":\"\u00e9\"}";
  private static final String PASSWORD = "pass w\u00f6rd";

  private RegistryServer server;

  @BeforeEach
  void start() throws IOException {
    server = new RegistryServer();
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private SchemaRegistryClient client() {
    return new SchemaRegistryClient(SchemaRegistry.at(server.address()));
  }

  private void assertFails(ThrowingCallable call, String path, String what) {
    assertThatThrownBy(call)
        .isInstanceOf(UncheckedIOException.class)
        .hasMessage("registry of schemas at " + server.address() + "/" + path + ": " + what);
  }

  @Test
  void schemasAreRegisteredAndFound() {
    int id = client().register("topic/with space-value", SCHEMA);
    assertThat(client().schema(id)).contains(SCHEMA);
    assertThat(client().schema(id + 1)).isEmpty();
    assertThat(client().register("other", SCHEMA)).isEqualTo(id);
    assertThat(server.requests())
        .startsWith("POST /subjects/topic%2Fwith%20space-value/versions", "GET /schemas/ids/" + id);
  }

  @Test
  void aPassingFailureIsNotSeen() {
    int id = server.add(SCHEMA);
    server.fail(2);
    assertThat(client().schema(id)).contains(SCHEMA);
    assertThat(server.requests()).hasSize(3);
    server.fail(3);
    assertFails(
        () -> client().schema(id),
        "schemas/ids/" + id,
        "HTTP 503 {\"error_code\":50003,\"message\":\"not now\"}");
  }

  @Test
  void credentialsAreSentAndNotShown() {
    int id = server.add(SCHEMA);
    server.protect("us:er", PASSWORD);
    SchemaRegistry registry =
        SchemaRegistry.at(server.address()).withCredentials("us:er", () -> PASSWORD);
    assertThat(new SchemaRegistryClient(registry).schema(id)).contains(SCHEMA);
    assertThat(registry.toString()).isEqualTo(server.address() + "/");
    assertFails(
        () -> client().schema(id),
        "schemas/ids/" + id,
        "HTTP 401 {\"error_code\":401,\"message\":\"Unauthorized\"}");
    SchemaRegistry wrong = registry.withCredentials("us:er", () -> "secret");
    assertThatThrownBy(() -> new SchemaRegistryClient(wrong).schema(id))
        .hasMessageContaining("HTTP 401")
        .hasMessageNotContaining("secret");
    for (String address :
        List.of(
            "http://user:secret@host:80",
            "http://user:secret@schema_registry:8081",
            "user:secret@host:80",
            "http://host?password=secret")) {
      assertThatThrownBy(() -> SchemaRegistry.at(address))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageNotContaining("secret");
    }
  }

  @Test
  void anAddressIsOneOfHttp() {
    for (String address : new String[] {"registry:8081", "ftp://registry", "http://", "a b"}) {
      assertThatThrownBy(() -> SchemaRegistry.at(address))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("expected the address of a registry over HTTP");
    }
  }

  @Test
  void answersOfOtherServersAreRefused() {
    server.answerWith("<html>");
    assertFails(() -> client().schema(5), "schemas/ids/5", "expected JSON, got <html>");
    server.answerWith("{}");
    assertFails(() -> client().schema(5), "schemas/ids/5", "expected the text of a schema");
    server.answerWith("{\"schema\":\"...\",\"schemaType\":\"PROTOBUF\"}");
    assertThatThrownBy(() -> client().schema(5))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected a schema of Avro, got one of PROTOBUF");
    server.answerWith("{\"schema\":\"...\",\"references\":[{\"name\":\"other\"}]}");
    assertThatThrownBy(() -> client().schema(5))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("schemas that refer to other schemas are not read");
  }

  @Test
  void onlyARegistrySaysThatThereIsNoSchema() {
    SchemaRegistry elsewhere = SchemaRegistry.at(server.address() + "/elsewhere");
    assertFails(
        () -> new SchemaRegistryClient(elsewhere).schema(5),
        "elsewhere/schemas/ids/5",
        "HTTP 404 <html>");
  }

  @Test
  void aRegistryThatIsNotThereIsNamed() {
    String address = server.address();
    server.close();
    assertThatThrownBy(() -> new SchemaRegistryClient(SchemaRegistry.at(address)).schema(1))
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageStartingWith(
            "registry of schemas at " + address + "/schemas/ids/1: it cannot be reached: ");
  }
}
