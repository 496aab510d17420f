// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql;

import org.apache.flink.annotation.Internal;

/**
 * SQL text has invalid syntax or does not fit the rows' columns; the message says where and why.
 */
@Internal
public final class SqlTextException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public SqlTextException(String message) {
    super(message);
  }
}
