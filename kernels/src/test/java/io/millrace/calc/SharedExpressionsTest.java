// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.device.PtxAssembler;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.ptx.PtxLibrary;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Expressions with shared operands: small as graphs, exponentially large as trees. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SharedExpressionsTest {
  private static final int LEVELS = 60;
  private static final DataType TYPE = DataType.INT64;

  private static final int BRANCHES = 100;
  private static final int CHARACTERS_OF_NODE = 500;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void doublings() {
    assertValues(levels(col("a"), value -> value.plus(value)), 0L, 3L << LEVELS, null);
  }

  @Test
  void doublingsThatWereMadeTwiceAreComputedOnce() {
    Expression first = levels(col("a"), value -> value.times(value));
    Expression second = levels(col("a"), value -> value.times(value));
    try (Table table = table()) {
      TypedExpression typed = resolve(table, first.minus(second));

      assertThat(resolve(table, first)).isEqualTo(resolve(table, second));
      assertThat(typed.nodes()).hasSize(LEVELS + 2);
    }
  }

  @Test
  void coalesceOfFailingArguments() {
    Expression[] quotients =
        IntStream.range(0, 40)
            .mapToObj(i -> col("a").dividedBy(col("b").plus((long) i)))
            .toArray(Expression[]::new);

    assertValues(call("COALESCE", (Object[]) quotients), 0L, 3L, null);
  }

  @Test
  void conditionsThatUseAValueInEveryBranch() {
    assertValues(
        levels(col("a"), value -> call("IF", col("c"), value.dividedBy(col("b")), value.plus(1L))),
        0L,
        3L + LEVELS,
        null);
  }

  @Test
  void conditionsThatUseAValueInABranchAndBeyond() {
    assertValues(
        levels(
            col("a"),
            value -> call("IF", col("c"), value.dividedBy(col("b")), lit(0L)).plus(value)),
        0L,
        3L,
        null);
  }

  @Test
  void branchesThatUseValuesOfEachOther() {
    try (Table table = table()) {
      Expression shared = col("a");
      List<Expression> conditions = new ArrayList<>();
      List<Expression> results = new ArrayList<>();
      for (long i = 0; i < BRANCHES; i++) {
        shared = shared.plus(shared.times(i));
        conditions.add(col("b").isEqual(i));
        results.add(shared.dividedBy(col("b")));
      }
      results.add(shared);
      TypedExpression typed = resolve(table, new Expression.Case(conditions, results));
      String ptx = CalcProgramWriter.write(null, List.of(typed), true, PtxLibrary.builtIn()).ptx();

      assertThat(PtxAssembler.errorsForOneArchitecture(ptx)).isEmpty();
      assertThat(ptx.length())
          .as("characters")
          .isLessThan(CHARACTERS_OF_NODE * typed.nodes().size());
    }
  }

  @Test
  void equalExpressionsBecomeOneObject() {
    try (Table table = table()) {
      ExpressionResolver resolver =
          new ExpressionResolver(table.schema(), ResolutionContext.DEFAULT);
      TypedExpression first = resolver.resolve(col("a").plus(col("b")).times(2L));
      TypedExpression second = resolver.resolve(col("d").plus(col("a").plus(col("b")).times(2L)));
      assertThat(second.operands().get(1)).isSameAs(first);
      assertThat(second.operands().get(0)).isNotSameAs(first);
    }
  }

  @Test
  void junctions() {
    Expression positive = col("a").dividedBy(col("b")).gt(0L);
    Expression all = levels(positive, value -> value.and(col("c")).or(value.and(col("c").not())));
    assertValues(call("IF", all, lit(1L), lit(2L)), 2L, 1L, 2L);
  }

  @Test
  void bytes() {
    Expression text = levels(call("REVERSE", lit("")), value -> call("CONCAT", value, value));
    assertValues(call("CHAR_LENGTH", text).cast(TYPE), 0L, 0L, 0L);
  }

  @Test
  void aCalcOfACalcsResultOfACalcsResult() {
    try (Table table = table()) {
      List<Expression> columns =
          List.of(
              col("a").plus(col("a")).plus(col("d")).as("a"),
              col("b"),
              col("c"),
              call("IF", col("c"), col("d"), col("a").dividedBy(col("b"))).as("d"));
      Calc calc = Calc.of(table.schema(), Optional.empty(), columns, ResolutionContext.DEFAULT);
      Calc next =
          Calc.of(calc.outputSchema(), Optional.empty(), columns, ResolutionContext.DEFAULT);
      Calc fused = calc;
      for (int i = 1; i < LEVELS; i++) {
        fused = fused.andThen(next);
      }
      fused =
          fused.andThen(
              Calc.of(
                  fused.outputSchema(),
                  Optional.of(col("a").isNotNull()),
                  List.of(col("a").as("x"), col("d").as("y")),
                  ResolutionContext.DEFAULT));
      long a = 3;
      long d = 0;
      for (int i = 0; i < LEVELS; i++) {
        long quotient = a;
        a = a + a + d;
        d = quotient;
      }
      assertThat(PtxAssembler.errorsForOneArchitecture(fused.program().ptx())).isEmpty();
      assertThat(fused.projections().get(0).toString()).hasSizeLessThan(20_000).endsWith("...");
      try (Table result = fused.apply(table, device.stream(), device.memory())) {
        assertThat(device.rows(result)).containsExactly(List.of(0L, 0L), List.of(a, d));
      }
    }
  }

  @Test
  void aSharedValueFailsOnlyForRowsThatNeedIt() {
    Expression quotient = lit(1L).dividedBy(col("a"));
    Expression guarded =
        levels(quotient, value -> call("IF", col("a").isNotEqual(0L), value.plus(value), lit(7L)));
    assertValues(guarded, 7L, 0L, 7L);
    try (Table table = table()) {
      Calc unguarded =
          Calc.of(
              table.schema(),
              Optional.empty(),
              List.of(guarded.as("x"), quotient.as("y")),
              ResolutionContext.DEFAULT);
      assertThatThrownBy(() -> unguarded.apply(table, device.stream(), device.memory()))
          .isInstanceOf(EvaluationException.class)
          .hasMessageContaining("row 0");
    }
  }

  private static Expression levels(Expression first, UnaryOperator<Expression> next) {
    Expression value = first;
    for (int i = 0; i < LEVELS; i++) {
      value = next.apply(value);
    }
    return value;
  }

  private Table table() {
    return new TableBuilder()
        .column("a", TYPE, 0L, 3L, null)
        .column("b", TYPE, 1L, 1L, 1L)
        .column("c", DataType.BOOL, true, false, false)
        .column("d", TYPE, 0L, 0L, 0L)
        .build(device);
  }

  private static TypedExpression resolve(Table table, Expression expression) {
    return new ExpressionResolver(table.schema(), ResolutionContext.DEFAULT).resolve(expression);
  }

  /** Checks values, that the text is truncated, and that the kernel assembles. */
  private void assertValues(Expression expression, Long... values) {
    try (Table table = table()) {
      Schema schema = table.schema();
      Calc calc =
          Calc.of(schema, Optional.empty(), List.of(expression.as("x")), ResolutionContext.DEFAULT);
      assertThat(PtxAssembler.errorsForOneArchitecture(calc.program().ptx())).isEmpty();
      assertThat(expression.toString()).hasSizeLessThan(20_000);
      assertThat(calc.projections().get(0).toString()).hasSizeLessThan(20_000);
      try (Table result = calc.apply(table, device.stream(), device.memory())) {
        assertThat(device.rows(result))
            .isEqualTo(Arrays.stream(values).map(Arrays::<Object>asList).toList());
      }
    }
  }
}
