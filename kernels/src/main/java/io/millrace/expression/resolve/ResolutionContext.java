package io.millrace.expression.resolve;

import java.time.ZoneId;

/**
 * What a resolution depends on beside the expression and the schema.
 *
 * @param zone the session's time zone (Flink's {@code table.local-time-zone})
 * @param functions the functions that may be called
 */
public record ResolutionContext(ZoneId zone, FunctionRegistry functions) {
  /** The built-in functions, and UTC. */
  public static final ResolutionContext DEFAULT =
      new ResolutionContext(ZoneId.of("UTC"), FunctionRegistry.builtIn());
}
