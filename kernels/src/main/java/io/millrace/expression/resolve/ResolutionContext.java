// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import java.time.ZoneId;
import java.util.Optional;

/**
 * The session in which expressions are resolved.
 *
 * @param zone the session time zone (Flink's {@code table.local-time-zone})
 * @param functions the available functions
 */
@PublicEvolving
public record ResolutionContext(ZoneId zone, FunctionRegistry functions) implements BindingContext {
  /** UTC and the built-in functions. */
  public static final ResolutionContext DEFAULT =
      new ResolutionContext(ZoneId.of("UTC"), FunctionRegistry.builtIn());

  @Override
  public Optional<CastRule> cast(DataType from, DataType to) {
    return functions.cast(from, to);
  }
}
