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
import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.function.BinaryOperator;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Chains of operators as programs write them, on the stack that a thread has unless told. */
class DeepExpressionsTest {
  private static final int TERMS = 10_000;
  private static final long STACK_BYTES = 1 << 20;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  private static Expression chain(
      IntFunction<Expression> term, BinaryOperator<Expression> operator) {
    Expression chain = term.apply(0);
    for (int i = 1; i < TERMS; i++) {
      chain = operator.apply(chain, term.apply(i));
    }
    return chain;
  }

  static Stream<Arguments> chains() {
    IntFunction<Expression> below = i -> col("l").lt((long) -i);
    IntFunction<Expression> text = i -> i % 2 == 0 ? lit("x") : col("s");
    return Stream.of(
        Arguments.of("or", chain(below, Expression::or), List.of(false, true)),
        Arguments.of("right or", chain(below, (all, next) -> next.or(all)), List.of(false, true)),
        Arguments.of(
            "and",
            chain(i -> col("l").lt(TERMS - (long) i), Expression::and),
            List.of(false, true)),
        Arguments.of(
            "equal", chain(i -> col("l").isEqual((long) i), Expression::or), List.of(true, false)),
        Arguments.of("plus", chain(i -> col("l"), Expression::plus), List.of(50_000L, -70_000L)),
        Arguments.of(
            "decimals",
            chain(i -> i % 2 == 0 ? col("m") : lit(new BigDecimal("0.5")), Expression::plus)
                .cast(DataType.INT64),
            List.of(10_000L, 12_500L)),
        Arguments.of(
            "texts",
            call("CHAR_LENGTH", chain(text, (all, next) -> call("||", all, next))),
            List.of(10_000, 15_000)),
        Arguments.of(
            "right texts",
            call("CHAR_LENGTH", chain(text, (all, next) -> call("||", next, all))),
            List.of(10_000, 15_000)),
        Arguments.of("minus", chain(i -> col("l"), Expression::minus), List.of(-49_990L, 69_986L)),
        Arguments.of(
            "right plus",
            chain(i -> col("l"), (all, next) -> next.plus(all)),
            List.of(50_000L, -70_000L)),
        Arguments.of(
            "negate", chain(i -> col("l"), (all, next) -> all.negate()), List.of(-5L, 7L)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("chains")
  void aChainOfManyTermsIsShippedAndEvaluated(String name, Expression chain, List<Object> expected)
      throws Exception {
    try (Table table =
        new TableBuilder()
            .column("l", DataType.INT64, 5L, -7L)
            .column("m", DataType.decimal(3, 1), new BigDecimal("1.5"), new BigDecimal("2.0"))
            .column("s", DataType.STRING, "y", "zz")
            .build(device)) {
      List<Object> values =
          onASmallStack(
              () -> {
                Expression shipped = deserialize(serialize(chain));
                assertThat(shipped.equals(chain)).isTrue();
                assertThat(shipped.hashCode()).isEqualTo(chain.hashCode());
                assertThat(shipped.toString()).isEqualTo(chain.toString()).hasSizeGreaterThan(100);
                TypedExpression typed = resolve(table.schema(), shipped);
                assertThat(typed.equals(resolve(table.schema(), chain))).isTrue();
                assertThat(typed.toString()).isNotEmpty();
                return evaluate(table, shipped);
              });
      assertThat(values).isEqualTo(expected);
    }
  }

  private static TypedExpression resolve(Schema schema, Expression expression) {
    return new ExpressionResolver(schema, ResolutionContext.DEFAULT).resolve(expression);
  }

  private List<Object> evaluate(Table table, Expression expression) {
    Calc identity =
        Calc.of(
            table.schema(),
            Optional.empty(),
            List.of(col("l"), col("m"), col("s")),
            ResolutionContext.DEFAULT);
    Calc computed =
        Calc.of(
            table.schema(),
            Optional.empty(),
            List.of(expression.as("result")),
            ResolutionContext.DEFAULT);
    try (Calc calc = identity.andThen(computed);
        Table result = calc.apply(table, device.stream(), device.memory())) {
      // A chain of this length is computed on the host, but its kernel could be written.
      assertThat(
              calc.hostReasons().isEmpty()
                  || calc.hostReasons().get(0).contains("parts")
                  || calc.hostReasons().get(0).contains("columns"))
          .isTrue();
      if (calc.hostReasons().size() < 2) {
        assertThat(calc.program().ptx()).contains(CalcProgram.KERNEL);
      }
      return device.rows(result).stream().map(row -> row.get(0)).toList();
    }
  }

  private static <T> T onASmallStack(Callable<T> body) throws Exception {
    FutureTask<T> task = new FutureTask<>(body);
    Thread thread = new Thread(null, task, "1 MiB of stack", STACK_BYTES);
    thread.start();
    return task.get();
  }

  private static byte[] serialize(Expression expression) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
      stream.writeObject(expression);
    }
    return bytes.toByteArray();
  }

  private static Expression deserialize(byte[] bytes) throws Exception {
    try (ObjectInputStream stream = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
      return (Expression) stream.readObject();
    }
  }

  @Test
  void aChainIsOneCallFromLeftToRight() {
    assertThat(col("a").or(col("b")).or(col("c")).or(col("d")))
        .isEqualTo(call("OR", col("a"), col("b"), col("c"), col("d")))
        .isEqualTo(col("a").or(col("b").or(col("c").or(col("d")))));
    assertThat(col("a").plus(col("b")).plus(col("c")))
        .isEqualTo(call("+", col("a"), col("b"), col("c")))
        .isNotEqualTo(col("a").plus(col("b").plus(col("c"))));
    Expression twice = col("a").or(col("b"));
    for (int i = 0; i < 40; i++) {
      twice = twice.or(twice);
    }
    assertThat(((Expression.Call) twice).arguments()).hasSize(42);
  }

  @Test
  void conditionsNestedTooDeepAreRefused() throws Exception {
    Schema schema = Schema.of(DataType.Field.of("l", DataType.INT64));
    Expression deep = col("l");
    for (int i = 0; i < TypedExpression.MAX_NESTED; i++) {
      deep = col("l").gt((long) i).then(i, deep);
    }
    Expression deepest = deep;
    Expression deeper = col("l").gt(-1L).then(-1L, deep);
    for (int i = 0; i < TERMS; i++) {
      deeper = col("l").gt(-1L).then(-1L, deeper);
    }
    Expression tooDeep = deserialize(serialize(deeper));

    try (Table table = new TableBuilder().column("l", DataType.INT64, 100L, 0L).build(device)) {
      assertThat(onASmallStack(() -> evaluateAlone(table, deepest))).containsExactly(99L, 0L);
    }
    assertThatThrownBy(() -> onASmallStack(() -> resolve(schema, tooDeep)).type())
        .hasCauseInstanceOf(ExpressionException.class)
        .hasMessageContaining("nested more than 250 deep");
  }

  private List<Object> evaluateAlone(Table table, Expression expression) {
    try (Calc calc =
            Calc.of(
                table.schema(),
                Optional.empty(),
                List.of(expression.as("result")),
                ResolutionContext.DEFAULT);
        Table result = calc.apply(table, device.stream(), device.memory())) {
      assertThat(calc.program().ptx()).isNotEmpty();
      return device.rows(result).stream().map(row -> row.get(0)).toList();
    }
  }
}
