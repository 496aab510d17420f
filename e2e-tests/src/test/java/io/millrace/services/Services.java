// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import java.util.EnumMap;
import java.util.Map;

/**
 * Starts servers. Whether they run in containers or as processes is chosen once per JVM and product
 * by the system property {@code millrace.services} ({@code auto}, {@code container} or {@code
 * process}), and printed in one line.
 */
public final class Services {
  private static final Map<Product, Placement> PLACEMENTS = new EnumMap<>(Product.class);

  private Services() {}

  /** Starts a Kafka broker that the caller closes, and returns when it answers. */
  public static Broker startBroker() throws Exception {
    return started(
        isInContainer(Product.KAFKA) ? KafkaServers.container() : KafkaServers.process());
  }

  /** As {@link #startBroker}, with a secured listener; always as a process. */
  public static Broker startSecuredBroker(BrokerSecurity security) throws Exception {
    return started(KafkaServers.securedProcess(security));
  }

  /** Starts a PostgreSQL server that the caller closes, and returns when it answers. */
  public static Database startDatabase() throws Exception {
    return started(
        isInContainer(Product.POSTGRES) ? PostgresServers.container() : PostgresServers.process());
  }

  private static <T extends TestedServer> T started(T server) throws Exception {
    try {
      server.start();
      return server;
    } catch (Exception | Error e) {
      server.close();
      throw e;
    }
  }

  private static boolean isInContainer(Product product) {
    synchronized (PLACEMENTS) {
      return PLACEMENTS.computeIfAbsent(product, Services::place).inContainer();
    }
  }

  private static Placement place(Product product) {
    Placement placement = Placement.ofThisRun(product);
    System.out.println("services: " + placement.description());
    return placement;
  }
}
