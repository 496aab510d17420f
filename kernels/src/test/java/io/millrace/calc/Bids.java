// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.List;
import java.util.Optional;

/** Four bids with nulls on a test's device, and calcs over them. */
record Bids(DeviceExtension device) {
  Table table() {
    return new TableBuilder()
        .column("name", DataType.STRING, "a", "b", null, "d")
        .column("price", DataType.INT64, 100L, 200L, 300L, null)
        .column("ratio", DataType.FLOAT64, 0.25, 0.5, null, 1.0)
        .build(device);
  }

  Table apply(Table table, Optional<Expression> condition, Expression... projections) {
    return calc(table, condition, projections).apply(table, device.stream(), device.memory());
  }

  static Calc calc(Table table, Optional<Expression> condition, Expression... projections) {
    return Calc.of(table.schema(), condition, List.of(projections), ResolutionContext.DEFAULT);
  }
}
