// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.error;

import io.millrace.annotation.Internal;

/** The result of a function exceeds 2 GiB. */
@Internal
public final class ResultTooLongException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ResultTooLongException() {
    super("a value exceeds 2 GiB");
  }
}
