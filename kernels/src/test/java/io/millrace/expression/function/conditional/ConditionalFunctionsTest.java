// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.conditional;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.function.Evaluation;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Types, nullability and evaluation order of conditional functions, as in Flink 2.3. */
class ConditionalFunctionsTest {
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("b", DataType.BOOL),
          new Field("c", DataType.BOOL, false),
          Field.of("i", DataType.INT32),
          new Field("n", DataType.INT32, false),
          Field.of("l", DataType.INT64),
          Field.of("f", DataType.FLOAT32),
          Field.of("d", DataType.FLOAT64),
          Field.of("dec", DataType.decimal(5, 2)),
          Field.of("t", DataType.timestamp(6)),
          Field.of("z", DataType.timestamp(3, true)));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  static List<Arguments> types() {
    return List.of(
        Arguments.of(col("f").plus(col("d")), "FLOAT"),
        Arguments.of(col("d").plus(col("f")), "DOUBLE"),
        Arguments.of(col("l").times(col("f")), "FLOAT"),
        Arguments.of(col("dec").times(col("f")), "DOUBLE"),
        Arguments.of(col("l").plus(nullOf(DataType.decimal(5, 2))), "DECIMAL(22, 2)"),
        Arguments.of(call("COALESCE", nullOf(DataType.FLOAT64), col("i")), "DOUBLE"),
        Arguments.of(call("COALESCE", nullOf(DataType.BOOL), col("i")), "INT"),
        Arguments.of(call("IF", col("c"), col("f"), col("d")), "FLOAT"),
        Arguments.of(call("IF", col("c"), col("t"), col("z")), "TIMESTAMP(6)"),
        Arguments.of(call("IF", col("c"), col("z"), col("t")), "TIMESTAMP_LTZ(6)"),
        Arguments.of(call("COALESCE", col("t"), col("z")), "TIMESTAMP_LTZ(6)"),
        Arguments.of(call("COALESCE", col("f"), col("d")), "DOUBLE"),
        Arguments.of(call("COALESCE", col("dec"), col("f")), "FLOAT"),
        Arguments.of(call("COALESCE", col("f"), col("dec")), "DOUBLE"),
        Arguments.of(call("COALESCE", col("i"), col("n"), col("l")), "BIGINT NOT NULL"),
        Arguments.of(call("COALESCE", col("i"), col("l")), "BIGINT"),
        Arguments.of(call("IFNULL", col("n"), col("i")), "INT NOT NULL"),
        Arguments.of(call("GREATEST", col("n"), col("f")), "FLOAT"),
        Arguments.of(call("GREATEST", col("n"), col("n")), "INT NOT NULL"),
        Arguments.of(call("IF", col("c"), col("n"), col("n")), "INT NOT NULL"),
        Arguments.of(call("IF", col("b"), col("n"), col("n")), "INT"),
        Arguments.of(call("NULLIF", col("n"), col("l")), "INT"),
        Arguments.of(call("IS DISTINCT FROM", col("i"), col("l")), "BOOLEAN NOT NULL"),
        Arguments.of(col("n").tryCast(DataType.INT64), "BIGINT"),
        Arguments.of(col("n").tryCast(DataType.INT32), "INT"));
  }

  @ParameterizedTest
  @MethodSource("types")
  void theTypeMatchesFlink(Expression expression, String type) {
    TypedExpression typed =
        new ExpressionResolver(SCHEMA, ResolutionContext.DEFAULT).resolve(expression);

    assertThat(typed.type() + (typed.nullable() ? "" : " NOT NULL")).isEqualTo(type);
  }

  @Test
  void extremesOrderFloatingPointNumbersAsDoubleCompareDoes() {
    Object[] left = {1.5, Double.NaN, 0.0, -0.0, null};
    Object[] right = {Double.NaN, 1.5, -0.0, 0.0, 1.0};
    try (Table table =
        new TableBuilder()
            .column("x", DataType.FLOAT64, left)
            .column("y", DataType.FLOAT64, right)
            .build(device)) {
      assertThat(Evaluation.of(device, table, call("GREATEST", col("x"), col("y"))))
          .containsExactly(Double.NaN, Double.NaN, 0.0, 0.0, null);
      assertThat(Evaluation.of(device, table, call("LEAST", col("x"), col("y"))))
          .containsExactly(1.5, 1.5, -0.0, -0.0, null);
    }
  }

  @Test
  void extremesOfStringsAreNullIfOneIs() {
    try (Table table =
        new TableBuilder()
            .column("x", DataType.STRING, "a", null, "b")
            .column("y", DataType.STRING, "b", "b", null)
            .build(device)) {
      assertThat(Evaluation.of(device, table, call("GREATEST", col("x"), col("y"), "aa")))
          .isEqualTo(Arrays.asList("b", null, null));
      assertThat(Evaluation.of(device, table, call("LEAST", col("x"), col("y"), "aa")))
          .isEqualTo(Arrays.asList("a", null, null));
    }
  }

  @Test
  void allArgumentsAreEvaluated() {
    try (Table table =
        new TableBuilder()
            .column("i", DataType.INT32, 1, null, 7)
            .column("s", DataType.STRING, "a", null, "c")
            .column("z", DataType.INT32, 2, 2, 0)
            .build(device)) {
      Expression quotient = lit(8).dividedBy(col("z"));
      List.of(
              call("COALESCE", col("i"), quotient),
              call("COALESCE", col("i"), col("i"), quotient),
              call("IFNULL", col("i"), quotient),
              call("IFNULL", lit(1), quotient),
              call("GREATEST", col("i"), quotient),
              call("LEAST", col("s"), call("CHR", quotient)))
          .forEach(
              expression ->
                  assertThatThrownBy(() -> Evaluation.of(device, table, expression))
                      .as("%s", expression)
                      .isInstanceOfSatisfying(
                          EvaluationException.class,
                          failure -> assertThat(failure.row()).isEqualTo(2)));
      assertThat(Evaluation.of(device, table, call("COALESCE", lit(1), quotient)))
          .containsExactly(1, 1, 1);
    }
  }

  @Test
  void aSecondValueThatMayFailReplacesNulls() {
    try (Table table =
        new TableBuilder()
            .column("i", DataType.INT32, 1, null, null)
            .column("z", DataType.INT32, 2, 2, null)
            .build(device)) {
      assertThat(
              Evaluation.of(device, table, call("COALESCE", col("i"), lit(8).dividedBy(col("z")))))
          .isEqualTo(Arrays.asList(1, 4, null));
    }
  }

  @Test
  void aFloatWithADoubleIsComputedAsTheLeftType() {
    try (Table table =
        new TableBuilder()
            .column("f", DataType.FLOAT32, 1.0f)
            .column("d", DataType.FLOAT64, 0x1p-24 + 0x1p-49)
            .build(device)) {
      assertThat(Evaluation.of(device, table, col("f").plus(col("d")))).containsExactly(1.0f);
      assertThat(Evaluation.of(device, table, col("d").plus(col("f"))))
          .containsExactly(1 + 0x1p-24 + 0x1p-49);
    }
  }

  @Test
  void floatingPointNumbersHaveNoRemainder() {
    ExpressionResolver resolver = new ExpressionResolver(SCHEMA, ResolutionContext.DEFAULT);

    assertThatThrownBy(() -> resolver.resolve(col("d").mod(col("i"))))
        .hasMessageContaining("MOD takes (TINYINT, TINYINT)");
  }
}
