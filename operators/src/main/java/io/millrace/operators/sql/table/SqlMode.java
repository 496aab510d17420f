// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.sql.table;

import org.apache.flink.annotation.PublicEvolving;

/** Whether Millrace's operators take the place of Flink's in SQL jobs. */
@PublicEvolving
public enum SqlMode {
  /** Flink's plans stay as they are. */
  OFF,
  /**
   * Flink's operators run, and EXPLAIN says of each node whether Millrace would replace it, and why
   * not.
   */
  EXPLAIN,
  /** Millrace's operators run in place of the nodes that it supports. */
  ON
}
