// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import io.millrace.process.Await;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;

/**
 * A Kafka cluster of one broker on 127.0.0.1. Its address and its data stay the same until it is
 * closed. Clients may be used by any thread; the broker is started, paused and killed by one.
 */
public final class Broker implements AutoCloseable {
  private static final Duration ANSWER_LIMIT = Duration.ofMinutes(2);
  private static final int REQUEST_LIMIT_MILLIS = 5_000;

  private final Server server;
  private final String bootstrapServers;

  Broker(Server server, int port) {
    this.server = server;
    this.bootstrapServers = "127.0.0.1:" + port;
  }

  /** Host and port, as {@code bootstrap.servers} of a client. */
  public String bootstrapServers() {
    return bootstrapServers;
  }

  /**
   * Starts the broker, for the first time or after {@link #kill}, and returns when it answers.
   *
   * @throws AssertionError if it ends, or does not answer within two minutes; the message has the
   *     tail of its log
   */
  public void start() throws Exception {
    server.start();
    Await.until("Kafka answers", ANSWER_LIMIT, this::answers, server::diagnosis);
  }

  private boolean answers() throws InterruptedException {
    if (!server.isRunning()) {
      throw new AssertionError("Kafka ended before it answered\n" + server.diagnosis());
    }
    Map<String, Object> options =
        Map.of(
            AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG,
            bootstrapServers,
            AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG,
            REQUEST_LIMIT_MILLIS,
            AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
            REQUEST_LIMIT_MILLIS);
    try (Admin admin = Admin.create(options)) {
      return !admin.describeCluster().nodes().get().isEmpty();
    } catch (ExecutionException e) {
      return false;
    }
  }

  /** Stops all that the broker does; connections to it stay open. */
  public void pause() throws Exception {
    server.pause();
  }

  /** Ends {@link #pause}. */
  public void resume() throws Exception {
    server.resume();
  }

  /** Ends the broker with SIGKILL, paused or not; {@link #start} starts it again with its data. */
  public void kill() throws Exception {
    server.kill();
  }

  /** State and last lines of the log, for the message of an error. */
  public String diagnosis() {
    return server.diagnosis();
  }

  /** Ends the broker, in whatever state it is, and removes its data. Idempotent. */
  @Override
  public void close() throws IOException {
    server.close();
  }
}
