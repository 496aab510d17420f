// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.error;

import io.millrace.annotation.PublicEvolving;
import java.util.List;

/** An invalid expression: an unknown column or function, or types that do not fit. */
@PublicEvolving
public final class ExpressionException extends IllegalArgumentException {
  private static final long serialVersionUID = 1L;

  public ExpressionException(String message) {
    super(message);
  }

  /**
   * The column {@code name} does not exist. The message suggests the nearest of {@code names} and
   * lists all.
   */
  public static ExpressionException unknownColumn(String name, List<String> names) {
    return unknown("there is no column '" + name + "'", name, "columns", names);
  }

  /**
   * The row {@code row} has no field {@code name}. The message suggests the nearest of {@code
   * names} and lists all.
   */
  public static ExpressionException unknownField(String name, String row, List<String> names) {
    return unknown("there is no field '" + name + "' of " + row, name, "fields", names);
  }

  private static ExpressionException unknown(
      String message, String name, String kind, List<String> names) {
    String suggestion = Suggestion.of(name, names);
    return new ExpressionException(
        message
            + (suggestion.isEmpty() ? "; the " : suggestion + " The ")
            + kind
            + " are "
            + String.join(", ", names));
  }
}
