// SPDX-License-Identifier: Apache-2.0
package io.millrace.calc;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.resolve.ColumnFunction;
import io.millrace.expression.resolve.ExpressionSettings;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.resolve.UserDefinedFunction;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExpressions;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class SplitCalcTest {
  private static final Schema SCHEMA =
      Schema.of(new Field("x", DataType.INT64, false), new Field("s", DataType.STRING, false));
  private static final ResolutionContext RANDOM_CONTEXT =
      new ResolutionContext(ZoneId.of("Europe/Berlin"), FunctionRegistry.builtIn());
  private static final int RANDOM_CALCS = 150;
  private static final int ROWS = 200;
  private static final int MAX_DEPTH = 5;
  private static final int PROJECTIONS = 3;
  private static final int MIN_COMPARED_ROWS = 2_000;

  // The arguments with which EVEN was called. Static: the function is serialized.
  private static final ConcurrentLinkedQueue<Long> ARGUMENTS = new ConcurrentLinkedQueue<>();
  private static final UserDefinedFunction EVEN =
      UserDefinedFunction.named("EVEN")
          .arguments(DataType.INT64)
          .returns(DataType.BOOL)
          .as(
              ColumnFunction.ofRow(
                  (operands, result, row) -> {
                    long argument = operands[0].longs()[row];
                    ARGUMENTS.add(argument);
                    if (argument < 0) {
                      throw new IllegalStateException("negative");
                    }
                    result.longs()[row] = argument % 2 == 0 ? 1 : 0;
                  }));
  private static final UserDefinedFunction SEVEN =
      UserDefinedFunction.named("SEVEN")
          .arguments()
          .returns(DataType.INT64)
          .as(ColumnFunction.ofRow((operands, result, row) -> result.longs()[row] = 7));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @BeforeEach
  void forgetArguments() {
    ARGUMENTS.clear();
  }

  @Test
  void theFunctionGetsTheRowsThatTheDeviceKeeps() {
    assertThat(
            run(
                Optional.of(col("x").gt(2L)),
                call("EVEN", col("x").times(10L).plus(1L)).as("even"),
                col("x").plus(1L).as("next"),
                col("s")))
        .containsExactly(List.of(false, 4L, "three"), List.of(false, 5L, "four"));
    assertThat(ARGUMENTS).containsExactly(31L, 41L);
  }

  @Test
  void aFunctionInABranchIsCalledForTheRowsOfTheBranch() {
    Expression branches =
        new Expression.Case(
            List.of(col("x").mod(2L).isEqual(0L)),
            List.of(call("EVEN", col("x").minus(2L)), lit(true)));
    assertThat(run(Optional.empty(), branches.as("even"), col("x")))
        .containsExactly(
            List.of(true, 1L), List.of(true, 2L), List.of(true, 3L), List.of(true, 4L));
    assertThat(ARGUMENTS).containsExactly(0L, 2L);
  }

  @Test
  void whatFollowsAFunctionInTheConditionIsComputedForTheRowsItKeeps() {
    Expression quotient = lit(12L).dividedBy(col("x").minus(3L));
    assertThat(
            run(
                Optional.of(
                    col("x").gt(1L).and(call("EVEN", col("x"))).and(quotient.isNotEqual(100L))),
                quotient.as("quotient"),
                call("EVEN", quotient.plus(100L)).as("even"),
                col("s")))
        .containsExactly(List.of(-12L, true, "two"), List.of(12L, true, "four"));
    assertThat(ARGUMENTS).containsExactly(2L, 3L, 4L, 88L, 112L);
  }

  @Test
  void functionsWithoutColumnsAndConstantsHaveAValueInEachRow() {
    assertThat(
            run(Optional.of(col("x").lt(3L)), call("SEVEN").plus(1L).as("eight"), lit("a").as("a")))
        .containsExactly(List.of(8L, "a"), List.of(8L, "a"));
    assertThat(run(Optional.of(call("EVEN", call("SEVEN"))), col("x"))).isEmpty();
  }

  @Test
  void aFunctionThatThrowsFailsTheCalc() {
    assertThatThrownBy(() -> run(Optional.empty(), call("EVEN", col("x").minus(3L)).as("even")))
        .isInstanceOf(EvaluationException.class)
        .hasRootCauseMessage("negative");
  }

  @Test
  void aCalcOnADeviceNamesTheFirstRowThatFails() {
    Calc calc =
        calc(
            Optional.of(col("x").gt(1L)),
            call("EVEN", col("x").minus(4L)).as("even"),
            lit(1L).dividedBy(col("x").minus(3L)).as("quotient"));
    try (Table table = table()) {
      assertThatThrownBy(() -> calc.apply(table, device.stream(), device.memory()).close())
          .isInstanceOfSatisfying(
              EvaluationException.class, failure -> assertThat(failure.row()).isEqualTo(1))
          .hasRootCauseMessage("negative");
    } finally {
      calc.close();
    }
  }

  @Test
  void aCalcWithoutFunctionsOfTheHostThatIsTooLargeIsNotSplit() {
    Expression[] sums =
        IntStream.range(0, 1_500)
            .mapToObj(i -> col("x").plus((long) i).as("sum" + i))
            .toArray(Expression[]::new);
    Calc calc = calc(Optional.empty(), sums);
    assertThat(calc.hostReasons()).isNotEmpty();
    assertThat(split(calc)).isEmpty();
  }

  @Test
  void randomCalcsGiveTheHostsValues() {
    RandomExpressions expressions = new RandomExpressions(random.random(), RANDOM_CONTEXT);
    int compared = 0;
    for (int i = 0; i < RANDOM_CALCS; i++) {
      Calc calc = randomCalc(expressions);
      try (Table table =
          TableBuilder.ofRows(expressions.schema(), expressions.rows(ROWS)).build(device)) {
        compared += compare(calc, table);
      } finally {
        calc.close();
      }
    }
    System.out.println(compared + " rows compared on " + device.device().description());
    assertThat(compared).isGreaterThan(MIN_COMPARED_ROWS);
  }

  /** A calc that needs the host, in half of the cases with a condition. */
  private Calc randomCalc(RandomExpressions expressions) {
    while (true) {
      List<Expression> projections = new ArrayList<>();
      Optional<Expression> condition = Optional.empty();
      boolean hasCondition = random.random().nextBoolean();
      while (projections.size() < PROJECTIONS || (hasCondition && condition.isEmpty())) {
        Expression tree = expressions.generate(1 + random.random().nextInt(MAX_DEPTH));
        if (hasCondition && expressions.resolver().resolve(tree).type().equals(DataType.BOOL)) {
          condition = Optional.of(condition.map(first -> first.and(tree)).orElse(tree));
        } else if (projections.size() < PROJECTIONS) {
          projections.add(tree.as("p" + projections.size()));
        }
      }
      Calc calc = Calc.of(expressions.schema(), condition, projections, RANDOM_CONTEXT);
      if (!calc.hostReasons().isEmpty()) {
        return calc;
      }
    }
  }

  /** Compares the results for the rows before the first that fails; returns how many these are. */
  private int compare(Calc calc, Table table) {
    try (Table onHost = device.copyToHost(table);
        Table result = calc.apply(onHost, device.hostStream(), device.hostMemory())) {
      assertThat(rows(split(calc).orElseThrow(), table))
          .as(() -> calc.condition() + " " + calc.projections())
          .isEqualTo(device.rows(result));
      return result.rowCount();
    } catch (EvaluationException e) {
      assertThatThrownBy(() -> rows(split(calc).orElseThrow(), table))
          .as(() -> calc.condition() + " " + calc.projections())
          .isInstanceOf(EvaluationException.class);
      try (Table before = table.slice(0, e.row())) {
        return before.rowCount() == 0 ? 0 : compare(calc, before);
      }
    }
  }

  private List<List<Object>> run(Optional<Expression> condition, Expression... projections) {
    try (Calc calc = calc(condition, projections);
        Table table = table()) {
      return rows(split(calc).orElseThrow(), table);
    }
  }

  private List<List<Object>> rows(SplitCalc split, Table table) {
    try (split;
        Table result = split.apply(table, Calc.NO_BATCH, device.stream(), device.memory())) {
      device.stream().synchronize();
      return device.rows(result);
    }
  }

  private static Optional<SplitCalc> split(Calc calc) {
    return SplitCalc.of(
        calc.inputSchema(),
        calc.condition().orElse(null),
        calc.projections(),
        calc.outputSchema(),
        Set.of());
  }

  private static Calc calc(Optional<Expression> condition, Expression... projections) {
    ResolutionContext context =
        ExpressionSettings.DEFAULT.withFunction(EVEN).withFunction(SEVEN).context();
    return Calc.of(SCHEMA, condition, List.of(projections), context);
  }

  private Table table() {
    return new TableBuilder()
        .column(SCHEMA.field(0), List.of(1L, 2L, 3L, 4L))
        .column(SCHEMA.field(1), List.of("one", "two", "three", "four"))
        .build(device);
  }
}
