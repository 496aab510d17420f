// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.comparison;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.decimal;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.function.Evaluation;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Comparisons of different types, compared with Flink's planner. */
class ComparisonFunctionsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void listElementsAreCastToTheTypeOfTheValue() {
    try (Table table = new TableBuilder().column("i", DataType.INT32, 5, 6).build(device)) {
      assertThat(Evaluation.of(device, table, call("IN", col("i"), decimal("5.9"), 7L)))
          .containsExactly(true, false);
      assertThat(Evaluation.of(device, table, call("NOT IN", col("i"), (1L << 32) + 6)))
          .containsExactly(true, false);
    }
  }

  @Test
  void aFloatEqualsADoubleInTheTypeOfTheLeftAndIsOrderedAsADouble() {
    try (Table table =
        new TableBuilder()
            .column("f", DataType.FLOAT32, 0.1f)
            .column("d", DataType.FLOAT64, 0.1)
            .build(device)) {
      assertThat(Evaluation.of(device, table, call("=", col("f"), col("d")))).containsExactly(true);
      assertThat(Evaluation.of(device, table, call("=", col("d"), col("f"))))
          .containsExactly(false);
      assertThat(Evaluation.of(device, table, call(">", col("f"), col("d")))).containsExactly(true);
      assertThat(Evaluation.of(device, table, call("IS DISTINCT FROM", col("f"), col("d"))))
          .containsExactly(true);
    }
  }
}
