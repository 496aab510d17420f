// SPDX-License-Identifier: Apache-2.0
package io.millrace.connectors.table;

import org.apache.flink.annotation.Internal;

/** How many rows the planner wants of a source. */
@Internal
public final class PushedLimit {
  /** All rows. */
  public static final long NONE = Long.MAX_VALUE;

  private PushedLimit() {}

  /**
   * A limit that a source may keep.
   *
   * @param limit of {@code SupportsLimitPushDown}: the sum of LIMIT and OFFSET, which the planner
   *     adds as two INTs
   * @return {@link #NONE} if the sum is too large for an INT
   */
  public static long of(long limit) {
    return limit < 0 ? NONE : limit;
  }
}
