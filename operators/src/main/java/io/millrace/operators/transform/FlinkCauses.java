// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.transform;

import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.error.InvalidArgumentException;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.api.TableRuntimeException;

/** The causes of failures with the classes that Flink's functions throw. */
final class FlinkCauses {
  private FlinkCauses() {}

  /** The failure; if Flink has an exception of its own for it, with that as its cause. */
  static EvaluationException of(EvaluationException failure) {
    Throwable cause = failure.getCause();
    if (cause instanceof InvalidArgumentException) {
      return failure.withCause(new TableRuntimeException(cause.getMessage()));
    }
    return cause != null && cause.getClass() == ClassCastException.class
        ? failure.withCause(new TableException(cause.getMessage(), cause))
        : failure;
  }
}
