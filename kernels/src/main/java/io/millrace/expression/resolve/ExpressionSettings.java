// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.resolve;

import io.millrace.annotation.PublicEvolving;
import java.io.Serializable;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * What a {@link ResolutionContext} is made of, serialized with a job. Immutable.
 *
 * @param zone the session's time zone
 * @param functions those that come beside the built-in ones
 */
@PublicEvolving
public record ExpressionSettings(ZoneId zone, List<UserDefinedFunction> functions)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The built-in functions, and UTC. */
  public static final ExpressionSettings DEFAULT =
      new ExpressionSettings(ZoneId.of("UTC"), List.of());

  public ExpressionSettings {
    Objects.requireNonNull(zone, "zone is null");
    functions = List.copyOf(functions);
  }

  /** These settings with another time zone. */
  public ExpressionSettings withZone(ZoneId newZone) {
    return new ExpressionSettings(newZone, functions);
  }

  /** These settings with one more function. */
  public ExpressionSettings withFunction(UserDefinedFunction function) {
    List<UserDefinedFunction> all = new ArrayList<>(functions);
    all.add(function);
    return new ExpressionSettings(zone, all);
  }

  /**
   * The context of resolutions.
   *
   * @throws IllegalArgumentException if two functions have one name
   */
  public ResolutionContext context() {
    FunctionRegistry registry = FunctionRegistry.builtIn();
    for (UserDefinedFunction function : functions) {
      registry = registry.with(function.definition(), function.ptx());
    }
    return new ResolutionContext(zone, registry);
  }
}
