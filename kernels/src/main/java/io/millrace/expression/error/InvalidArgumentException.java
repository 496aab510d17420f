// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.error;

import io.millrace.annotation.PublicEvolving;

/**
 * Why a function cannot take the arguments of a row, where Flink's function says it, in the same
 * words; the cause of an {@link EvaluationException}. It has no stack trace: many rows may fail.
 */
@PublicEvolving
public final class InvalidArgumentException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public InvalidArgumentException(String reason) {
    super(reason, null, false, false);
  }
}
