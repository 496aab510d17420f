// SPDX-License-Identifier: Apache-2.0
package io.millrace.jobs;

import org.apache.flink.annotation.Internal;

/** A request of the user that cannot be done; the message is one line that says what to change. */
@Internal
public final class UsageException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UsageException(String message) {
    super(message);
  }
}
