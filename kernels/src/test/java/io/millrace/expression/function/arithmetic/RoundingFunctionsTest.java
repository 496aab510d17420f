// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.arithmetic;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.function.Evaluation;
import io.millrace.expression.function.numeric.DoubleRounding;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RoundingFunctionsTest {
  private static final int ROWS = 50_000;
  private static final int MAX_POWER = 15;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void absoluteValuesOfTheLeastIntegersAreThemselves() {
    try (Table table = numbers()) {
      assertThat(Evaluation.of(device, table, call("ABS", col("t"))))
          .containsExactly((byte) -128, (byte) 127, (byte) 15, null);
      assertThat(Evaluation.of(device, table, call("ABS", col("s"))))
          .containsExactly(Short.MIN_VALUE, Short.MAX_VALUE, (short) 25, null);
      assertThat(Evaluation.of(device, table, call("ABS", col("i"))))
          .containsExactly(Integer.MIN_VALUE, Integer.MAX_VALUE, 15, null);
      assertThat(Evaluation.of(device, table, call("ABS", col("l"))))
          .containsExactly(Long.MIN_VALUE, Long.MAX_VALUE, 25L, null);
      assertThat(Evaluation.of(device, table, call("ABS", col("f"))))
          .containsExactly(0.0f, Float.NaN, 0.3f, null);
      assertThat(Evaluation.of(device, table, call("ABS", col("d"))))
          .containsExactly(0.0, Double.POSITIVE_INFINITY, 1234.5678, null);
    }
  }

  @Test
  void theSignOfAZeroIsTheZeroAndOfNotANumberNotANumber() {
    try (Table table = numbers()) {
      assertThat(Evaluation.of(device, table, call("SIGN", col("i"))))
          .containsExactly(-1, 1, -1, null);
      assertThat(Evaluation.of(device, table, call("SIGN", col("l"))))
          .containsExactly(-1L, 1L, -1L, null);
      assertThat(Evaluation.of(device, table, call("SIGN", col("f"))))
          .containsExactly(-0.0f, Float.NaN, -1.0f, null);
      assertThat(Evaluation.of(device, table, call("SIGN", col("d"))))
          .containsExactly(-0.0, -1.0, -1.0, null);
    }
  }

  @Test
  void wholeNumbersKeepTheSignOfZero() {
    try (Table table = numbers()) {
      assertThat(Evaluation.of(device, table, call("FLOOR", col("f"))))
          .containsExactly(-0.0f, Float.NaN, -1.0f, null);
      assertThat(Evaluation.of(device, table, call("CEIL", col("f"))))
          .containsExactly(-0.0f, Float.NaN, -0.0f, null);
      assertThat(Evaluation.of(device, table, call("FLOOR", col("d"))))
          .containsExactly(-0.0, Double.NEGATIVE_INFINITY, -1235.0, null);
      assertThat(Evaluation.of(device, table, call("CEILING", col("d"))))
          .containsExactly(-0.0, Double.NEGATIVE_INFINITY, -1234.0, null);
      assertThat(Evaluation.of(device, table, call("FLOOR", col("t"))))
          .containsExactly((byte) -128, (byte) 127, (byte) -15, null);
    }
  }

  // Recorded from Flink 2.3.
  @Test
  void roundedIntegersWrap() {
    try (Table table = numbers()) {
      assertThat(Evaluation.of(device, table, call("ROUND", col("t"), lit(-1))))
          .containsExactly((byte) 126, (byte) -126, (byte) -20, null);
      assertThat(Evaluation.of(device, table, call("ROUND", col("s"), lit(-1))))
          .containsExactly((short) 32766, (short) -32766, (short) -30, null);
      assertThat(Evaluation.of(device, table, call("ROUND", col("i"), lit(-1))))
          .containsExactly(2147483646, -2147483646, -20, null);
      assertThat(Evaluation.of(device, table, call("ROUND", col("l"), lit(-1))))
          .containsExactly(9223372036854775806L, -9223372036854775806L, -30L, null);
    }
  }

  @Test
  void integersRoundAsBigDecimalsDo() {
    Random values = random.random();
    List<Object> numbers = new ArrayList<>();
    List<Object> digits = new ArrayList<>();
    List<Object> rounded = new ArrayList<>();
    List<Object> truncated = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      long number = values.nextLong() >> values.nextInt(64);
      int digit = values.nextInt(25) - 22;
      numbers.add(number);
      digits.add(digit);
      BigDecimal decimal = BigDecimal.valueOf(number);
      rounded.add(decimal.setScale(digit, RoundingMode.HALF_UP).toBigInteger().longValue());
      truncated.add(decimal.setScale(digit, RoundingMode.DOWN).toBigInteger().longValue());
    }
    try (Table table =
        new TableBuilder()
            .column("x", DataType.INT64, numbers.toArray())
            .column("n", DataType.INT32, digits.toArray())
            .build(device)) {
      assertThat(Evaluation.of(device, table, call("ROUND", col("x"), col("n"))))
          .isEqualTo(rounded);
      assertThat(Evaluation.of(device, table, call("TRUNCATE", col("x"), col("n"))))
          .isEqualTo(truncated);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"DOUBLE", "FLOAT"})
  void floatingPointNumbersRoundAsTheirPrintedDecimals(String type) {
    boolean isFloat = type.equals("FLOAT");
    Random values = random.random();
    List<Object> numbers = new ArrayList<>();
    List<Object> digits = new ArrayList<>();
    List<Object> rounded = new ArrayList<>();
    List<Object> truncated = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      double number = isFloat ? (float) number(values) : number(values);
      int digit = values.nextInt(10) == 0 ? values.nextInt(60) - 30 : values.nextInt(8) - 2;
      BigDecimal decimal = BigDecimal.valueOf(number);
      BigDecimal round = decimal.setScale(digit, RoundingMode.HALF_UP);
      BigDecimal truncate =
          decimal
              .setScale(18, RoundingMode.HALF_UP)
              .setScale(Math.min(18, digit), RoundingMode.DOWN);
      numbers.add(isFloat ? (Object) (float) number : (Object) number);
      digits.add(digit);
      rounded.add(isFloat ? (Object) round.floatValue() : (Object) round.doubleValue());
      truncated.add(
          isFloat ? (Object) (float) truncate.doubleValue() : (Object) truncate.doubleValue());
    }
    try (Table table =
        new TableBuilder()
            .column("x", isFloat ? DataType.FLOAT32 : DataType.FLOAT64, numbers.toArray())
            .column("n", DataType.INT32, digits.toArray())
            .build(device)) {
      assertThat(Evaluation.of(device, table, call("ROUND", col("x"), col("n"))))
          .isEqualTo(rounded);
      assertThat(Evaluation.of(device, table, call("TRUNCATE", col("x"), col("n"))))
          .isEqualTo(truncated);
    }
  }

  // Short decimals, ties at their last digit, neighbours of both, and arbitrary numbers below 1E20.
  private static double number(Random values) {
    long unscaled = values.nextLong() % (long) Math.pow(10, 1 + values.nextInt(MAX_POWER));
    double scale = Math.pow(10, values.nextInt(MAX_POWER));
    double anything = Math.scalb(values.nextDouble() - 0.5, values.nextInt(120) - 54);
    Supplier<Double> half = () -> (unscaled / 10 * 10 + 5) / scale;
    return switch (values.nextInt(5)) {
      case 0 -> unscaled / scale;
      case 1 -> half.get();
      case 2 -> Math.nextUp(half.get());
      case 3 -> Math.nextDown(half.get());
      default -> anything;
    };
  }

  @Test
  void halvesRoundAwayFromZeroAsPrinted() {
    Object[] values = {2.675, -2.675, 1.005, 0.5, -0.4, 1e300, 3.7697575892669498e17};
    try (Table table = new TableBuilder().column("x", DataType.FLOAT64, values).build(device)) {
      assertThat(Evaluation.of(device, table, call("ROUND", col("x"), lit(2))))
          .containsExactly(2.68, -2.68, 1.01, 0.5, -0.4, 1e300, 3.7697575892669498e17);
      assertThat(Evaluation.of(device, table, call("ROUND", col("x"))))
          .containsExactly(3.0, -3.0, 1.0, 1.0, 0.0, 1e300, 3.7697575892669498e17);
      assertThat(Evaluation.of(device, table, call("ROUND", col("x"), lit(-500_000_000))))
          .containsOnly(0.0);
      assertThat(Evaluation.of(device, table, call("ROUND", col("x"), lit(500_000_000))))
          .containsExactly(values);
    }
  }

  @Test
  void nanInfinitiesAndTooLargeNumbersFail() {
    try (Table table = numbers()) {
      assertThatThrownBy(() -> Evaluation.of(device, table, call("ROUND", col("f"))))
          .isInstanceOf(EvaluationException.class)
          .hasMessageContaining("row 1: values NaN");
      assertThatThrownBy(() -> Evaluation.of(device, table, call("TRUNCATE", col("d"), lit(1))))
          .isInstanceOf(EvaluationException.class)
          .hasMessageContaining("row 1: values -Infinity");
    }
    Object[] values = {Math.nextDown(1e20), -1e20};
    try (Table table = new TableBuilder().column("x", DataType.FLOAT64, values).build(device)) {
      assertThatThrownBy(() -> Evaluation.of(device, table, call("TRUNCATE", col("x"))))
          .isInstanceOf(EvaluationException.class)
          .hasMessageContaining("row 1: values -1.0E20");
    }
  }

  @Test
  void typesThatFlinkRejectsAreRefused() {
    try (Table table = numbers()) {
      assertThatThrownBy(() -> Evaluation.of(device, table, call("SIGN", col("t"))))
          .hasMessageContaining("t is TINYINT");
      assertThatThrownBy(() -> Evaluation.of(device, table, call("TRUNCATE", col("s"))))
          .hasMessageContaining("s is SMALLINT");
      assertThatThrownBy(() -> Evaluation.of(device, table, call("ROUND", col("d"), col("l"))))
          .hasMessageContaining("l is BIGINT");
    }
  }

  /** Flink computes the power of ten with Java's BigInteger, which cannot hold more digits. */
  @ParameterizedTest
  @ValueSource(ints = {Integer.MIN_VALUE, -536_870_920, 536_870_920, Integer.MAX_VALUE})
  void tooManyDigitsFailForAllButZero(int digits) {
    assertTooMany("ROUND", DataType.INT8, (byte) 0, (byte) 5, digits);
    assertTooMany("ROUND", DataType.INT32, 0, Integer.MIN_VALUE, digits);
    assertTooMany("ROUND", DataType.INT64, 0L, 5L, digits);
    assertTooMany("ROUND", DataType.FLOAT64, 0.0, 1e-300, digits);
    assertTooMany("ROUND", DataType.FLOAT32, 0.0f, 0.5f, digits);
    if (digits < 0) {
      assertTooMany("TRUNCATE", DataType.INT32, 0, 5, digits);
      assertTooMany("TRUNCATE", DataType.INT64, 0L, 5L, digits);
      assertTooMany("TRUNCATE", DataType.FLOAT64, 1e-19, 1e-18, digits);
    }
  }

  private void assertTooMany(
      String function, DataType type, Object fine, Object failing, int digits) {
    try (Table table =
        new TableBuilder()
            .column("x", type, fine, failing)
            .column("n", DataType.INT32, digits, digits)
            .build(device)) {
      for (var count : List.of(lit(digits), col("n"))) {
        assertThatThrownBy(() -> Evaluation.of(device, table, call(function, col("x"), count)))
            .isInstanceOf(EvaluationException.class)
            .hasMessageContaining(function + "(x, ")
            .hasMessageContaining("at row 1");
      }
    }
  }

  @Test
  void aPowerOfTenBeyondLongsIsUnsigned() {
    BigInteger wrapped = BigInteger.TEN.pow(19);
    assertThat(DoubleRounding.round(Long.MAX_VALUE, -19)).isEqualTo(wrapped.longValue());
    assertThat(DoubleRounding.round(Long.MIN_VALUE, -19)).isEqualTo(wrapped.negate().longValue());
    assertThat(DoubleRounding.round(Long.MIN_VALUE, -20)).isZero();
  }

  private Table numbers() {
    return new TableBuilder()
        .column("t", DataType.INT8, (byte) -128, (byte) 127, (byte) -15, null)
        .column("s", DataType.INT16, (short) -32768, (short) 32767, (short) -25, null)
        .column("i", DataType.INT32, Integer.MIN_VALUE, Integer.MAX_VALUE, -15, null)
        .column("l", DataType.INT64, Long.MIN_VALUE, Long.MAX_VALUE, -25L, null)
        .column("f", DataType.FLOAT32, -0.0f, Float.NaN, -0.3f, null)
        .column("d", DataType.FLOAT64, -0.0, Double.NEGATIVE_INFINITY, -1234.5678, null)
        .build(device);
  }
}
