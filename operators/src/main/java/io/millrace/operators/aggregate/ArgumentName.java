// SPDX-License-Identifier: Apache-2.0
package io.millrace.operators.aggregate;

import java.io.Serializable;
import java.util.Locale;
import org.apache.flink.annotation.Internal;

/**
 * Names what an operator in front of the aggregates keeps of arguments.
 *
 * @param kind what is kept
 * @param text of the argument, or of the call of the function
 */
@Internal
public record ArgumentName(Kind kind, String text) implements Serializable {
  /** What is kept of an argument. */
  public enum Kind {
    /** The accumulators of a user-defined function. */
    FUNCTION("Function"),
    /** Its different values, for DISTINCT. */
    DISTINCT("Distinct"),
    /** Its values, for the smallest and the largest of a changelog. */
    EXTREMES("Extremes");

    private final String operator;

    Kind(String operator) {
      this.operator = operator;
    }
  }

  /** The name of the operator. */
  public String operator() {
    return kind.operator;
  }

  /** What the uid of the aggregates has behind it for the uid of the operator. */
  public String uidSuffix() {
    return "-" + kind.name().toLowerCase(Locale.ROOT) + "-" + text;
  }

  /** Such as {@code Distinct(`x`)}. */
  @Override
  public String toString() {
    return operator() + "(" + text + ")";
  }
}
