// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql;

import org.apache.flink.annotation.Internal;

/** A text of SQL that does not parse or does not fit the rows; the message says where and why. */
@Internal
public final class SqlTextException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public SqlTextException(String message) {
    super(message);
  }
}
