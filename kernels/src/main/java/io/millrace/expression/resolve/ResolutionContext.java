// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.PublicEvolving;
import io.millrace.column.DataType;
import java.time.ZoneId;
import java.util.Optional;

/**
 * What a resolution depends on beside the expression and the schema.
 *
 * @param zone the session's time zone (Flink's {@code table.local-time-zone})
 * @param functions the functions that may be called
 */
@PublicEvolving
public record ResolutionContext(ZoneId zone, FunctionRegistry functions) implements BindingContext {
  /** The built-in functions, and UTC. */
  public static final ResolutionContext DEFAULT =
      new ResolutionContext(ZoneId.of("UTC"), FunctionRegistry.builtIn());

  @Override
  public Optional<CastRule> cast(DataType from, DataType to) {
    return functions.cast(from, to);
  }
}
