// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;

/** A Kafka cluster of one broker on 127.0.0.1. */
public final class Broker extends TestedServer {
  private static final int REQUEST_LIMIT_MILLIS = 5_000;

  private final String bootstrapServers;
  private final String securedServers;

  /**
   * @param securedPort the same as {@code port} without a secured listener
   */
  Broker(Server server, int port, int securedPort) {
    super("Kafka", server);
    this.bootstrapServers = "127.0.0.1:" + port;
    this.securedServers = "127.0.0.1:" + securedPort;
  }

  /** Host and port, as {@code bootstrap.servers} of a client. */
  public String bootstrapServers() {
    return bootstrapServers;
  }

  /** As {@link #bootstrapServers}, of the listener that {@link BrokerSecurity} describes. */
  public String securedServers() {
    return securedServers;
  }

  @Override
  boolean answers() throws InterruptedException {
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
}
