package io.millrace.testing;

import io.millrace.expression.BoundFunction;
import io.millrace.expression.TypedExpression;
import java.util.LinkedHashSet;
import java.util.Set;

/** Why an expression cannot run on the device. */
public final class HostReasons {
  private HostReasons() {}

  /** The reasons of its functions that run on the host only; empty if the device can run it. */
  public static Set<String> of(TypedExpression expression) {
    Set<String> reasons = new LinkedHashSet<>();
    collect(expression, reasons);
    return reasons;
  }

  private static void collect(TypedExpression expression, Set<String> reasons) {
    if (expression instanceof TypedExpression.Call call) {
      BoundFunction function = call.function();
      if (function.device().isEmpty()) {
        reasons.add(function.hostReason());
      }
    } else if (expression instanceof TypedExpression.Try attempt) {
      collect(attempt.call(), reasons);
    }
    expression.operands().forEach(operand -> collect(operand, reasons));
  }
}
