// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.lookup;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Adds the columns of a dimension table, without its keys, to each row of a stream whose key is in
 * the table: Flink SQL's {@code JOIN ... FOR SYSTEM_TIME AS OF} a processing time. The table is the
 * one that was read last; see {@link DimensionTable#refresh}. A key with a null is not in the
 * table.
 *
 * @param keys the columns of the stream that are compared with the dimension's keys, in the order
 *     of those
 * @param isOuter whether a row whose key is not in the table stays, with nulls
 */
@PublicEvolving
public record Lookup(DimensionTable dimension, List<String> keys, boolean isOuter)
    implements Serializable {
  private static final long serialVersionUID = 1L;

  public Lookup {
    keys = List.copyOf(keys);
  }

  /** Drops rows whose key is not in the table. */
  public static Lookup inner(DimensionTable dimension, String... keys) {
    return new Lookup(dimension, List.of(keys), false);
  }

  /** Keeps rows whose key is not in the table, with nulls. */
  public static Lookup outer(DimensionTable dimension, String... keys) {
    return new Lookup(dimension, List.of(keys), true);
  }

  /** The name of the operator. */
  public String operation() {
    return isOuter ? "LookupOuter" : "Lookup";
  }

  /** Such as {@code Lookup(table=[items], on=[auction = id])}, or {@code LookupOuter(...)}. */
  @Override
  public String toString() {
    List<String> pairs = new ArrayList<>();
    for (int i = 0; i < keys.size(); i++) {
      pairs.add(keys.get(i) + " = " + dimension.keys().get(i));
    }
    return operation()
        + "(table=["
        + dimension.name()
        + "], on=["
        + String.join(", ", pairs)
        + "])";
  }
}
