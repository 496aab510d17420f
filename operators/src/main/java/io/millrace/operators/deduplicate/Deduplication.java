// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.deduplicate;

import java.io.Serializable;
import java.util.Objects;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Which row of each key is kept, such as {@code keepFirst()} or {@code keepLast().by("version")}.
 *
 * @param keep the row that is kept
 * @param column whose values order the rows; null if their arrival does
 */
@PublicEvolving
public record Deduplication(Keep keep, String column) implements Serializable {

  /** A row of a key. */
  public enum Keep {
    FIRST,
    LAST
  }

  /** By the order in which rows arrive. */
  public Deduplication(Keep keep) {
    this(keep, null);
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

  /**
   * The same by the order of a column's values, such as an event time or a version: Flink SQL's
   * {@code ORDER BY rowtime} or {@code ORDER BY rowtime DESC}. Of rows with the same value, {@link
   * #keepFirst} keeps the one that arrives first, and {@link #keepLast} the one that arrives last.
   *
   * @param column an integer, a floating-point number in the order of {@link Double#compare}, a
   *     DECIMAL of up to 18 digits, a DATE, a TIME, or a TIMESTAMP of up to 6 digits; NOT NULL
   */
  public Deduplication by(String column) {
    return new Deduplication(keep, Objects.requireNonNull(column, "column"));
  }

  /** Whether rows are ordered by the values of {@link #column}. */
  boolean isByColumn() {
    return column != null;
  }

  /** Whether the result is a changelog, since kept rows may be replaced by later rows. */
  public boolean isChangelog() {
    return keep == Keep.LAST || isByColumn();
  }

  /** The order as in SQL: {@code PROCTIME}, {@code t ASC} or {@code t DESC}. */
  String order() {
    if (!isByColumn()) {
      return "PROCTIME";
    }
    return column + (keep == Keep.FIRST ? " ASC" : " DESC");
  }

  /** As in Flink's plans: {@code keep=[FirstRow]}. */
  @Override
  public String toString() {
    return keep == Keep.FIRST ? "keep=[FirstRow]" : "keep=[LastRow]";
  }
}
