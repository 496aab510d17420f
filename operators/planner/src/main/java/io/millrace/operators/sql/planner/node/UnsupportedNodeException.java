// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.planner.node;

import org.apache.flink.annotation.Internal;

/** Why a node stays Flink's; the message is what EXPLAIN says. */
@Internal
public final class UnsupportedNodeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public UnsupportedNodeException(String reason) {
    super(reason, null, false, false);
  }
}
