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
    String suggestion = Suggestion.of(name, names);
    return new ExpressionException(
        "there is no column '"
            + name
            + "'"
            + (suggestion.isEmpty() ? "; the" : suggestion + " The")
            + " columns are "
            + String.join(", ", names));
  }
}
