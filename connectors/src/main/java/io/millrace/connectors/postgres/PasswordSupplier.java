// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.postgres;

import java.io.Serializable;
import java.util.function.Supplier;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Gives a password where a connection is opened: in the processes of the cluster, not in the
 * client. It is serialized with the job, so it should hold the name of a secret, not the secret.
 */
@PublicEvolving
@FunctionalInterface
public interface PasswordSupplier extends Supplier<String>, Serializable {

  /**
   * The value of an environment variable of the process that connects. If the variable is not set,
   * connecting fails with an {@link IllegalStateException} that has its name.
   */
  static PasswordSupplier fromEnvironment(String variable) {
    return () -> {
      String password = System.getenv(variable);
      if (password == null) {
        throw new IllegalStateException("the environment variable " + variable + " is not set");
      }
      return password;
    };
  }
}
