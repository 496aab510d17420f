// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.error;

import io.millrace.annotation.Internal;

/** A function's result of bytes would have over 2 GiB. */
@Internal
public final class ResultTooLongException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public ResultTooLongException() {
    super("a value has over 2 GiB");
  }
}
