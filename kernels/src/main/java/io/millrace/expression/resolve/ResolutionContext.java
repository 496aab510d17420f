// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.PublicEvolving;
import java.time.ZoneId;
import java.util.OptionalInt;

/**
 * The session in which expressions are resolved.
 *
 * @param zone the session time zone (Flink's {@code table.local-time-zone})
 * @param functions the available functions
 * @param batchStep a number that differs between steps whose expressions may be merged, if the
 *     expressions may ask for values of their batch, such as the time of CURRENT_TIMESTAMP: {@link
 *     io.millrace.calc.Calc#apply(io.millrace.column.Table,
 *     io.millrace.expression.vector.BatchContext, io.millrace.device.DeviceStream,
 *     io.millrace.memory.MemoryResource)} then needs them
 */
@PublicEvolving
public record ResolutionContext(ZoneId zone, FunctionRegistry functions, OptionalInt batchStep) {
  /** UTC and the built-in functions. */
  public static final ResolutionContext DEFAULT =
      new ResolutionContext(ZoneId.of("UTC"), FunctionRegistry.builtIn());

  /** A context in which expressions cannot ask for values of their batch. */
  public ResolutionContext(ZoneId zone, FunctionRegistry functions) {
    this(zone, functions, OptionalInt.empty());
  }

  /** The same context, in which expressions may ask for values of their batch. */
  public ResolutionContext withBatch() {
    return withBatch(0);
  }

  /**
   * The same context for one of several steps that are merged into one, in which expressions may
   * ask for values of their batch.
   *
   * @param step the number of the step, so that random numbers of the steps differ
   */
  public ResolutionContext withBatch(int step) {
    return new ResolutionContext(zone, functions, OptionalInt.of(step));
  }
}
