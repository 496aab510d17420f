// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression;

import io.millrace.annotation.PublicEvolving;
import java.io.Serializable;
import java.util.Objects;

/**
 * A sort column. Values are ordered as in Flink SQL: strings and bytes as unsigned bytes, false
 * before true, NaN after all numbers, -0.0 before 0.0.
 *
 * @param column name of the column
 * @param descending true to sort from the greatest value to the least
 * @param nullsFirst true if nulls precede all values
 */
@PublicEvolving
public record SortKey(String column, boolean descending, boolean nullsFirst)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  public SortKey {
    Objects.requireNonNull(column, "column is null");
  }

  /** A key with nulls where Flink SQL puts them: first if ascending, last if descending. */
  public static SortKey of(String column, boolean descending) {
    return new SortKey(column, descending, !descending);
  }

  /** This key with nulls before all values. */
  public SortKey withNullsFirst() {
    return new SortKey(column, descending, true);
  }

  /** This key with nulls after all values. */
  public SortKey withNullsLast() {
    return new SortKey(column, descending, false);
  }

  @Override
  public String toString() {
    return column + (descending ? " DESC" : " ASC") + (nullsFirst ? " NULLS FIRST" : " NULLS LAST");
  }
}
