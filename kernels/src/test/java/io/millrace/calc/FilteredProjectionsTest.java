// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Projections of filtered rows, over several chunks of the host evaluator. */
class FilteredProjectionsTest {
  private static final int ROWS = 3_000;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void reuseValuesAndNullsOfTheCondition() {
    Expression half =
        new Expression.Case(List.of(odd()), List.of(col("x").dividedBy(2), nullOf(DataType.INT32)));
    try (Table table = numbers();
        Table result =
            apply(
                table,
                half.isNull().or(half.mod(2).isEqual(0)),
                half.as("half"),
                half.plus(1).as("more"),
                col("s"))) {
      List<List<Object>> expected = new ArrayList<>();
      for (int i = 0; i < ROWS; i++) {
        if (i % 2 == 0) {
          expected.add(Arrays.asList(null, null, text(i)));
        } else if (i / 2 % 2 == 0) {
          expected.add(List.of(i / 2, i / 2 + 1, text(i)));
        }
      }
      assertThat(device.rows(result)).isEqualTo(expected);
    }
  }

  @Test
  void computeValuesThatTheConditionSkipped() {
    Expression tail = col("s").substring(2, 10);
    try (Table table = numbers();
        Table result =
            apply(table, col("x").lt(1_500).or(tail.isEqual("2999")), tail.as("tail"), col("x"))) {
      List<List<Object>> expected = new ArrayList<>();
      IntStream.range(0, 1_500).forEach(i -> expected.add(List.of(text(i).substring(1), i)));
      expected.add(List.of("2999", 2_999));
      assertThat(device.rows(result)).isEqualTo(expected);
    }
  }

  @Test
  void computeWithDoubles() {
    Object[] values = IntStream.range(0, ROWS).mapToObj(i -> i / 4.0).toArray();
    try (Table table = new TableBuilder().column("d", DataType.FLOAT64, values).build(device);
        Table result =
            apply(
                table,
                col("d").gt(600.0),
                col("d").plus(0.1),
                col("d").minus(0.1),
                col("d").times(0.1),
                col("d").dividedBy(0.1))) {
      List<List<Object>> expected = new ArrayList<>();
      for (int i = 2_401; i < ROWS; i++) {
        double d = i / 4.0;
        expected.add(List.of(d + 0.1, d - 0.1, d * 0.1, d / 0.1));
      }
      assertThat(device.rows(result)).isEqualTo(expected);
    }
  }

  @Test
  void makeStructsOfComputedColumns() {
    try (Table table = numbers();
        Table result =
            apply(table, col("x").gt(2_997), call("ROW", col("x").plus(1), col("s")).as("both"))) {
      assertThat(device.rows(result))
          .containsExactly(
              List.of(List.of(2_999, text(2_998))), List.of(List.of(3_000, text(2_999))));
    }
  }

  @Test
  void failWithThePositionInTheTable() {
    Expression quotient = lit(1).dividedBy(col("x").minus(2_001));
    try (Table table = numbers()) {
      assertThatThrownBy(() -> apply(table, odd(), quotient.as("q")))
          .isInstanceOfSatisfying(
              EvaluationException.class, failure -> assertThat(failure.row()).isEqualTo(2_001))
          .hasMessageContaining("at row 2001: values 1, 0");
    }
  }

  private static Expression odd() {
    return col("x").mod(2).isEqual(1);
  }

  private static String text(int row) {
    return "#" + row;
  }

  private Table numbers() {
    return new TableBuilder()
        .column("x", DataType.INT32, IntStream.range(0, ROWS).boxed().toArray())
        .column(
            "s",
            DataType.STRING,
            IntStream.range(0, ROWS).mapToObj(FilteredProjectionsTest::text).toArray())
        .build(device);
  }

  private Table apply(Table table, Expression condition, Expression... projections) {
    return Calc.of(
            table.schema(), Optional.of(condition), List.of(projections), ResolutionContext.DEFAULT)
        .apply(table, device.stream(), device.memory());
  }
}
