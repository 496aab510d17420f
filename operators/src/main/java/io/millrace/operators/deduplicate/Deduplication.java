// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import java.io.Serializable;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Which row of each key is kept, in the order in which rows arrive, such as {@code keepFirst()}.
 *
 * @param keep the row that is kept
 */
@PublicEvolving
public record Deduplication(Keep keep) implements Serializable {

  /** A row of a key. */
  public enum Keep {
    FIRST,
    LAST
  }

  /**
   * Keeps the first row of each key: Flink SQL's {@code ROW_NUMBER() OVER (PARTITION BY key ORDER
   * BY proctime) = 1}.
   */
  public static Deduplication keepFirst() {
    return new Deduplication(Keep.FIRST);
  }

  /** Keeps the last row of each key: the same with {@code ORDER BY proctime DESC}. */
  public static Deduplication keepLast() {
    return new Deduplication(Keep.LAST);
  }

  /** Whether the result is a changelog, since kept rows are replaced by later rows. */
  public boolean isChangelog() {
    return keep == Keep.LAST;
  }

  /** As in Flink's plans: {@code keep=[FirstRow]}. */
  @Override
  public String toString() {
    return keep == Keep.FIRST ? "keep=[FirstRow]" : "keep=[LastRow]";
  }
}
