// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.annotation.Internal;
import java.util.List;
import java.util.Optional;

/**
 * Writes function calls as SQL, such as {@code (a + b)}, for the text of an {@link Expression}. It
 * is a service because function definitions depend on expressions, not the other way around.
 */
@Internal
@FunctionalInterface
public interface CallSyntax {

  /**
   * Writes a call of {@code function} as SQL.
   *
   * @param function name or alias of the function, in any case
   * @param arguments the arguments as SQL
   * @return empty if the function does not exist
   */
  Optional<String> toSql(String function, List<String> arguments);
}
