// SPDX-License-Identifier: Apache-2.0
package io.millrace.testing;

import io.millrace.expression.typed.BoundFunction;
import io.millrace.expression.typed.TypedExpression;
import java.util.Set;
import java.util.stream.Collectors;

/** Why an expression cannot run on the device. */
public final class HostReasons {
  private HostReasons() {}

  /**
   * The reasons of the functions that run on the host only; empty if there are no such functions.
   */
  public static Set<String> of(TypedExpression expression) {
    return expression.nodes().stream()
        .flatMap(node -> node.calledFunction().stream())
        .filter(function -> function.device().isEmpty())
        .map(BoundFunction::hostReason)
        .collect(Collectors.toSet());
  }
}
