// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DeviceExtension;
import java.util.List;
import java.util.Optional;

/** Evaluates single expressions on a test's device. */
public final class Evaluation {
  private Evaluation() {}

  /** The values of the expression for all rows of the table. */
  public static List<Object> of(DeviceExtension device, Table table, Expression expression) {
    try (Table result = calc(table, expression).apply(table, device.stream(), device.memory())) {
      return device.rows(result).stream().map(row -> row.get(0)).toList();
    }
  }

  static DataType type(Table table, Expression expression) {
    return calc(table, expression).outputSchema().field(0).type();
  }

  private static Calc calc(Table table, Expression expression) {
    return Calc.of(
        table.schema(),
        Optional.empty(),
        List.of(expression.as("result")),
        ResolutionContext.DEFAULT);
  }
}
