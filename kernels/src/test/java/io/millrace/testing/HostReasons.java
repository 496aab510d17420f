// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.InputPath;
import io.millrace.expression.typed.TypedExpression;
import java.util.Set;
import java.util.stream.Collectors;

/** Why an expression cannot run on the device. */
public final class HostReasons {
  private HostReasons() {}

  /**
   * The reasons of the functions that run on the host only, or that a nested value is computed;
   * empty if there are no reasons.
   */
  public static Set<String> of(TypedExpression expression) {
    Set<String> functions =
        expression.nodes().stream()
            .flatMap(node -> node.calledFunction().stream())
            .filter(function -> function.device().isEmpty())
            .map(BoundFunction::hostReason)
            .collect(Collectors.toSet());
    boolean computesNested =
        !expression.type().id().isScalar()
            || expression.nodes().stream()
                .anyMatch(node -> !node.type().id().isScalar() && InputPath.of(node).isEmpty());
    return functions.isEmpty() && computesNested
        ? Set.of("a ROW, ARRAY or MAP within an expression")
        : functions;
  }
}
