// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.PublicEvolving;
import java.io.Serializable;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Serializable settings from which a {@link ResolutionContext} is created. Immutable.
 *
 * @param zone the session time zone
 * @param functions user-defined functions in addition to the built-in functions
 */
@PublicEvolving
public record ExpressionSettings(ZoneId zone, List<UserDefinedFunction> functions)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** UTC and the built-in functions. */
  public static final ExpressionSettings DEFAULT =
      new ExpressionSettings(ZoneId.of("UTC"), List.of());

  public ExpressionSettings {
    Objects.requireNonNull(zone, "zone is null");
    functions = List.copyOf(functions);
  }

  /** Replaces the time zone. */
  public ExpressionSettings withZone(ZoneId newZone) {
    return new ExpressionSettings(newZone, functions);
  }

  /** Adds a user-defined function. */
  public ExpressionSettings withFunction(UserDefinedFunction function) {
    List<UserDefinedFunction> all = new ArrayList<>(functions);
    all.add(function);
    return new ExpressionSettings(zone, all);
  }

  /**
   * Creates the context for resolving expressions.
   *
   * @throws IllegalArgumentException if two functions have the same name
   */
  public ResolutionContext context() {
    FunctionRegistry registry = FunctionRegistry.builtIn();
    for (UserDefinedFunction function : functions) {
      registry = registry.with(function.definition(), function.ptx());
    }
    return new ResolutionContext(zone, registry);
  }
}
