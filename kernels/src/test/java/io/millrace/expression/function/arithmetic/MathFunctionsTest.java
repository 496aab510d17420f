// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.arithmetic;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.function.Evaluation;
import io.millrace.expression.function.numeric.Logarithm;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.DoubleBinaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class MathFunctionsTest {
  private static final int ROWS = 100_000;
  private static final double[] SPECIAL = {
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    22.0,
    709.782712893384,
    -745.1332191019412,
    710.4758600739439,
    Double.MIN_VALUE,
    -Double.MIN_VALUE,
    Double.MIN_NORMAL,
    Double.MAX_VALUE,
    -Double.MAX_VALUE,
    Double.POSITIVE_INFINITY,
    Double.NEGATIVE_INFINITY,
    Double.NaN,
    Math.PI,
    Math.PI / 2,
    0x1p31,
    0x1p53,
    1e22,
    6381956970095103.0 * 0x1p797
  };

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  /**
   * A function of x and optionally y.
   *
   * @param strict the algorithm, bit for bit
   * @param flink the function that Flink calls
   * @param units maximum difference between the two in units in the last place
   */
  record Function(
      String name,
      int arguments,
      DoubleBinaryOperator strict,
      DoubleBinaryOperator flink,
      long units) {
    @Override
    public String toString() {
      return name;
    }

    Expression call() {
      Object[] columns = {col("x"), col("y")};
      return Expressions.call(name, Arrays.copyOf(columns, arguments));
    }
  }

  static Stream<Function> functions() {
    return Stream.of(
        new Function("EXP", 1, (x, y) -> StrictMath.exp(x), (x, y) -> Math.exp(x), 1),
        new Function("LN", 1, (x, y) -> Logarithm.natural(x), (x, y) -> Math.log(x), 1),
        new Function("LOG10", 1, (x, y) -> Logarithm.decimal(x), (x, y) -> Math.log10(x), 1),
        new Function(
            "LOG2", 1, (x, y) -> Logarithm.binary(x), (x, y) -> Math.log(x) / Math.log(2), 1),
        new Function("LOG", 1, (x, y) -> Logarithm.natural(x), (x, y) -> Math.log(x), 1),
        new Function("LOG", 2, Logarithm::toBase, (x, y) -> Math.log(y) / Math.log(x), 1),
        new Function("POWER", 2, StrictMath::pow, Math::pow, 1),
        new Function("SQRT", 1, (x, y) -> StrictMath.pow(x, 0.5), (x, y) -> Math.pow(x, 0.5), 1),
        new Function("SIN", 1, (x, y) -> StrictMath.sin(x), (x, y) -> Math.sin(x), 1),
        new Function("COS", 1, (x, y) -> StrictMath.cos(x), (x, y) -> Math.cos(x), 1),
        new Function("TAN", 1, (x, y) -> StrictMath.tan(x), (x, y) -> Math.tan(x), 1),
        new Function("COT", 1, (x, y) -> 1 / StrictMath.tan(x), (x, y) -> 1 / Math.tan(x), 2),
        new Function("ASIN", 1, (x, y) -> StrictMath.asin(x), (x, y) -> Math.asin(x), 1),
        new Function("ACOS", 1, (x, y) -> StrictMath.acos(x), (x, y) -> Math.acos(x), 1),
        new Function("ATAN", 1, (x, y) -> StrictMath.atan(x), (x, y) -> Math.atan(x), 1),
        new Function("ATAN2", 2, StrictMath::atan2, Math::atan2, 1),
        new Function("SINH", 1, (x, y) -> StrictMath.sinh(x), (x, y) -> Math.sinh(x), 1),
        new Function("COSH", 1, (x, y) -> StrictMath.cosh(x), (x, y) -> Math.cosh(x), 1),
        new Function("TANH", 1, (x, y) -> StrictMath.tanh(x), (x, y) -> Math.tanh(x), 1),
        new Function("DEGREES", 1, (x, y) -> Math.toDegrees(x), (x, y) -> Math.toDegrees(x), 0),
        new Function("RADIANS", 1, (x, y) -> Math.toRadians(x), (x, y) -> Math.toRadians(x), 0));
  }

  @ParameterizedTest
  @MethodSource("functions")
  void hasTheBitsOfStrictMathAndIsCloseToMath(Function function) {
    Random values = random.random();
    double[] x = IntStream.range(0, ROWS).mapToDouble(i -> number(values, i)).toArray();
    double[] y = IntStream.range(0, ROWS).mapToDouble(i -> number(values, i / 28)).toArray();
    List<Object> expected = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      expected.add(function.strict.applyAsDouble(x[i], y[i]));
    }
    try (Table table =
        new TableBuilder()
            .column("x", DataType.FLOAT64, Arrays.stream(x).boxed().toArray())
            .column("y", DataType.FLOAT64, Arrays.stream(y).boxed().toArray())
            .build(device)) {
      assertThat(Evaluation.of(device, table, function.call())).isEqualTo(expected);
    }
    int furthest = 0;
    long most = 0;
    for (int i = 0; i < ROWS; i++) {
      long units = unitsBetween((Double) expected.get(i), function.flink.applyAsDouble(x[i], y[i]));
      furthest = units > most ? i : furthest;
      most = Math.max(most, units);
    }
    System.out.println(function + ": at most " + most + " ulp from Java's in " + ROWS + " calls");
    assertThat(most)
        .as(function + " of " + x[furthest] + ", " + y[furthest])
        .isLessThanOrEqualTo(function.units);
  }

  // Special values, all bit patterns, and numbers around which most functions change.
  private static double number(Random values, int i) {
    return switch (i % 5) {
      case 0 -> SPECIAL[values.nextInt(SPECIAL.length)];
      case 1 -> Double.longBitsToDouble(values.nextLong());
      case 2 -> values.nextDouble() * 2 - 1;
      case 3 -> (values.nextDouble() - 0.5) * 1500;
      default -> values.nextInt(2_000_001) - 1_000_000;
    };
  }

  private static long unitsBetween(double a, double b) {
    if (Double.isNaN(a) || Double.isNaN(b)) {
      return Double.isNaN(a) && Double.isNaN(b) ? 0 : Long.MAX_VALUE;
    }
    return Math.abs(position(a) - position(b));
  }

  // Index of a number in ascending order; both zeros have index 0.
  private static long position(double x) {
    long bits = Double.doubleToLongBits(x);
    return bits >= 0 ? bits : Long.MIN_VALUE - bits;
  }

  @Test
  void nullGivesNull() {
    try (Table table =
        new TableBuilder()
            .column("x", DataType.FLOAT64, null, 4.0, 4.0)
            .column("y", DataType.FLOAT64, 2.0, null, 2.0)
            .build(device)) {
      assertThat(Evaluation.of(device, table, call("POWER", col("x"), col("y"))))
          .containsExactly(null, null, 16.0);
    }
  }

  @Test
  void theSquareRootIsThePowerOfOneHalf() {
    Object[] values = {-0.0, Double.NEGATIVE_INFINITY, -1.0, 2.25, Double.POSITIVE_INFINITY};
    try (Table table = new TableBuilder().column("x", DataType.FLOAT64, values).build(device)) {
      assertThat(Evaluation.of(device, table, call("SQRT", col("x"))))
          .containsExactly(
              0.0, Double.POSITIVE_INFINITY, Double.NaN, 1.5, Double.POSITIVE_INFINITY);
    }
  }

  @Test
  void constantsMatchJava() {
    try (Table table = new TableBuilder().column("x", DataType.FLOAT64, 1.0).build(device)) {
      assertThat(Evaluation.of(device, table, call("PI"))).containsExactly(Math.PI);
      assertThat(Evaluation.of(device, table, call("E"))).containsExactly(Math.E);
    }
  }

  @Test
  void textIsRefused() {
    try (Table table = new TableBuilder().column("x", DataType.STRING, "1").build(device)) {
      assertThatThrownBy(() -> Evaluation.of(device, table, call("LN", col("x"))))
          .hasMessageContaining("x is STRING; LN takes (DOUBLE)");
    }
  }
}
