// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs.operator;

import org.apache.flink.annotation.Internal;

/** There are more bad rows than {@code bad-rows.max} allows. */
@Internal
public final class TooManyBadRowsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public TooManyBadRowsException(String message) {
    super(message);
  }
}
