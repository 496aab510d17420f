// SPDX-License-Identifier: Apache-2.0
package io.millrace.services;

import java.util.concurrent.Callable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Gives all test classes of a JVM the same broker and the same database, each started when a test
 * first asks for it and closed behind the last test. A test that pauses or kills starts its own, by
 * {@link Services}. Register it in a static field; tests name their topics and tables by
 * themselves.
 */
public final class SharedServices implements BeforeAllCallback {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(SharedServices.class);

  private ExtensionContext.Store store;

  @Override
  public void beforeAll(ExtensionContext context) {
    store = context.getRoot().getStore(NAMESPACE);
  }

  public Broker broker() {
    return shared(Broker.class, Services::startBroker);
  }

  public Database database() {
    return shared(Database.class, Services::startDatabase);
  }

  private <T> T shared(Class<T> type, Callable<T> start) {
    return store.getOrComputeIfAbsent(
        type,
        key -> {
          try {
            return start.call();
          } catch (Exception e) {
            throw new IllegalStateException(type.getSimpleName() + " did not start", e);
          }
        },
        type);
  }
}
