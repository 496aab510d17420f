// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.avro;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SchemaRegistryClientTest {
  private static final byte[] BEGINNING =
      "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".getBytes(US_ASCII);

  /** A server that begins its answers, and never ends them. */
  private static final class StalledServer implements Closeable {
    private final ServerSocket server = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
    private final ExecutorService executor = Executors.newSingleThreadExecutor();
    private final List<Socket> connections = Collections.synchronizedList(new ArrayList<>());

    StalledServer() throws IOException {
      executor.execute(this::accept);
    }

    private void accept() {
      try {
        for (; ; ) {
          Socket connection = server.accept();
          connections.add(connection);
          connection.getOutputStream().write(BEGINNING);
        }
      } catch (IOException e) {
        // The server is closed.
      }
    }

    String address() {
      return "http://" + server.getInetAddress().getHostAddress() + ":" + server.getLocalPort();
    }

    @Override
    public void close() throws IOException {
      server.close();
      executor.shutdown();
      for (Socket connection : connections) {
        connection.close();
      }
    }
  }

  @Test
  @Timeout(60)
  void anAnswerThatDoesNotEndIsGivenUp() throws IOException {
    try (StalledServer server = new StalledServer()) {
      SchemaRegistry registry = SchemaRegistry.at(server.address());
      SchemaRegistryClient client = new SchemaRegistryClient(registry, Duration.ofMillis(200));
      assertThatThrownBy(() -> client.schema(1))
          .isInstanceOf(UncheckedIOException.class)
          .hasMessageStartingWith(
              "registry of schemas at "
                  + server.address()
                  + "/schemas/ids/1: it cannot be reached: ");
    }
  }
}
