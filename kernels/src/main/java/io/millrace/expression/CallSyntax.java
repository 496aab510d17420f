// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.annotation.Internal;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/**
 * How SQL writes a call of a function, such as {@code (a + b)}: what the text of an {@link
 * Expression} asks. A service, because definitions of functions depend on expressions and not the
 * other way around.
 */
@Internal
@FunctionalInterface
public interface CallSyntax {

  /** The syntax of the functions that the library has. */
  CallSyntax BUILT_IN = (function, arguments) -> Loaded.INSTANCE.toSql(function, arguments);

  /** Loads the service when a call is first written. */
  final class Loaded {
    private static final CallSyntax INSTANCE =
        ServiceLoader.load(CallSyntax.class, CallSyntax.class.getClassLoader())
            .findFirst()
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        "expected a service " + CallSyntax.class.getName() + ", found none"));

    private Loaded() {}
  }

  /**
   * The call of {@code function} as SQL.
   *
   * @param function its name or an alias, in any case
   * @param arguments the arguments as SQL
   * @return empty if there is no such function
   */
  Optional<String> toSql(String function, List<String> arguments);
}
