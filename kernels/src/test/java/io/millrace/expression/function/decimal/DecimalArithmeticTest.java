// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.decimal;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.BinaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Decimal arithmetic, compared with Flink's DecimalDataUtils, which uses BigDecimal. */
class DecimalArithmeticTest {
  private static final MathContext DIVISION = new MathContext(38, RoundingMode.HALF_UP);
  private static final int PAIRS_OF_TYPES = 150;
  private static final int ROWS = 40;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension randomness = new RandomExtension();
  private Random random;

  @BeforeEach
  void startRandomness() {
    random = randomness.random();
  }

  @Test
  void sumsAreExactThenRounded() {
    check("+", BigDecimal::add);
    check("-", BigDecimal::subtract);
  }

  @Test
  void productsAreExactThenRounded() {
    check("*", BigDecimal::multiply);
  }

  @Test
  void quotientsAreRoundedTo38DigitsAndThenToTheScale() {
    check("/", (a, b) -> a.divide(b, DIVISION));
  }

  @Test
  void remaindersAreComputedOnAlignedNumbers() {
    check("MOD", (a, b) -> a.remainder(b, DIVISION));
  }

  @Test
  void aQuotientJustBelowAHalfRoundsUpTwice() {
    // 0.4999... with 39 nines rounds to one half in 38 digits.
    BigDecimal dividend = new BigDecimal("4999999999999999999999999999999999999").setScale(0);
    BigDecimal divisor = new BigDecimal("99999999999999999999999999999999999999");
    DataType type = DataType.decimal(38, 0);
    BigDecimal expected = dividend.divide(divisor, DIVISION);
    assertThat(one("/", dividend, type, divisor, type))
        .isEqualTo(expected.setScale(6, RoundingMode.HALF_UP));
  }

  /** Result types recorded from Flink 2.3. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          DECIMAL(5, 2)   | /   | INT             | DECIMAL(16, 13)
          DECIMAL(2, 2)   | /   | INT             | DECIMAL(13, 13)
          DECIMAL(10, 4)  | MOD | INT             | DECIMAL(10, 4)
          INT             | MOD | DECIMAL(10, 4)  | DECIMAL(10, 4)
          BIGINT          | MOD | DECIMAL(18, 0)  | DECIMAL(18, 0)
          DECIMAL(18, 0)  | MOD | INT             | INT
          DECIMAL(18, 0)  | MOD | BIGINT          | BIGINT
          BIGINT          | +   | DECIMAL(38, 38) | DECIMAL(38, 18)
          DECIMAL(10, 4)  | +   | FLOAT           | DOUBLE
          DECIMAL(10, 4)  | *   | DOUBLE          | DOUBLE
          DECIMAL(38, 0)  | MOD | DECIMAL(38, 38) | DECIMAL(38, 38)
          DECIMAL(38, 10) | MOD | DECIMAL(10, 4)  | DECIMAL(16, 10)
          DECIMAL(38, 0)  | /   | DECIMAL(38, 38) | DECIMAL(38, 6)
          DECIMAL(38, 38) | /   | DECIMAL(38, 0)  | DECIMAL(38, 38)
          DECIMAL(38, 0)  | *   | DECIMAL(38, 10) | DECIMAL(38, 6)
          DECIMAL(4, 3)   | *   | BIGINT          | DECIMAL(24, 3)
          DECIMAL(10, 2)  | *   | DECIMAL(10, 2)  | DECIMAL(21, 4)
          DECIMAL(10, 2)  | /   | DECIMAL(10, 2)  | DECIMAL(23, 13)
          """)
  void resultsHaveFlinksTypes(String left, String function, String right, String result) {
    try (Table table =
            new TableBuilder()
                .column("a", type(left), new Object[] {null})
                .column("b", type(right), new Object[] {null})
                .build(device);
        Table output = apply(table, call(function, col("a"), col("b")).as("x"))) {
      assertThat(output.schema().field(0).type()).hasToString(result);
    }
  }

  @Test
  void integersAreTakenAsDecimals() {
    assertThat(one("*", new BigDecimal("0.908"), DataType.decimal(4, 3), 5L, DataType.INT64))
        .isEqualTo(new BigDecimal("4.540"));
    assertThat(one("/", new BigDecimal("123.45"), DataType.decimal(5, 2), 1000, DataType.INT32))
        .isEqualTo(new BigDecimal("0.1234500000000"));
    BigDecimal wide = new BigDecimal("123456789012345678");
    assertThat(one("MOD", wide, DataType.decimal(18, 0), 1000, DataType.INT32)).isEqualTo(678);
  }

  @Test
  void overflowOfThePrecisionIsNull() {
    BigDecimal most = BigDecimal.TEN.pow(38).subtract(BigDecimal.ONE);
    DataType type = DataType.decimal(38, 0);
    assertThat(one("+", most, type, BigDecimal.ONE, type)).isNull();
    assertThat(one("-", most.negate(), type, most, type)).isNull();
    assertThat(one("*", most, type, BigDecimal.TEN, type)).isNull();
    BigDecimal tiny = new BigDecimal(BigInteger.ONE, 38);
    assertThat(one("/", most, type, tiny, DataType.decimal(38, 38))).isNull();
  }

  @Test
  void divisionByZeroFails() {
    DataType type = DataType.decimal(10, 2);
    BigDecimal zero = new BigDecimal("0.00");
    for (String function : List.of("/", "MOD")) {
      assertThatThrownBy(() -> one(function, new BigDecimal("1.00"), type, zero, type))
          .isInstanceOf(EvaluationException.class)
          .hasMessageContaining("division by zero");
    }
  }

  @Test
  void aRemainderOfAnIntegralQuotientOfMoreThan38DigitsFails() {
    BigDecimal dividend = BigDecimal.TEN.pow(37).subtract(BigDecimal.ONE);
    BigDecimal divisor = new BigDecimal(BigInteger.valueOf(7), 38);
    DataType fraction = DataType.decimal(38, 38);
    assertThatThrownBy(() -> one("MOD", dividend, DataType.decimal(38, 0), divisor, fraction))
        .isInstanceOf(EvaluationException.class);
    // 10^75 has more digits, but they are zeros.
    BigDecimal least = new BigDecimal(BigInteger.ONE, 38);
    assertThat(one("MOD", BigDecimal.TEN.pow(37), DataType.decimal(38, 0), least, fraction))
        .isEqualTo(BigDecimal.ZERO.setScale(38));
  }

  private void check(String function, BinaryOperator<BigDecimal> oracle) {
    for (int i = 0; i < PAIRS_OF_TYPES; i++) {
      DataType left = randomType();
      DataType right = random.nextInt(4) == 0 ? left : randomType();
      List<BigDecimal> a = new ArrayList<>();
      List<BigDecimal> b = new ArrayList<>();
      List<BigDecimal> exact = new ArrayList<>();
      while (a.size() < ROWS) {
        BigDecimal x = randomDecimal(left);
        BigDecimal y = randomDecimal(right);
        try {
          exact.add(oracle.apply(x, y));
          a.add(x);
          b.add(y);
        } catch (ArithmeticException e) {
          assertThat(function).isIn("/", "MOD");
        }
      }
      check(function, left, a, right, b, exact);
    }
  }

  private void check(
      String function,
      DataType left,
      List<BigDecimal> a,
      DataType right,
      List<BigDecimal> b,
      List<BigDecimal> exact) {
    try (Table table =
            new TableBuilder()
                .column("a", left, a.toArray())
                .column("b", right, b.toArray())
                .build(device);
        Table output = apply(table, call(function, col("a"), col("b")).as("x"))) {
      DataType type = output.schema().field(0).type();
      List<List<Object>> rows = device.rows(output);
      for (int row = 0; row < ROWS; row++) {
        BigDecimal scaled = exact.get(row).setScale(type.scale(), RoundingMode.HALF_UP);
        BigDecimal expected = scaled.precision() > type.precision() ? null : scaled;
        assertThat(rows.get(row).get(0))
            .as("%s %s %s: %s, %s", left, function, right, a.get(row), b.get(row))
            .isEqualTo(expected);
      }
    }
  }

  private DataType randomType() {
    int most =
        switch (random.nextInt(3)) {
          case 0 -> 9;
          case 1 -> 18;
          default -> 38;
        };
    int precision = random.nextInt(4) == 0 ? most : 1 + random.nextInt(most);
    return DataType.decimal(precision, random.nextInt(precision + 1));
  }

  private BigDecimal randomDecimal(DataType type) {
    int digits = random.nextInt(3) == 0 ? type.precision() : 1 + random.nextInt(type.precision());
    BigInteger limit = BigInteger.TEN.pow(digits);
    BigInteger magnitude =
        switch (random.nextInt(5)) {
          case 0 -> limit.subtract(BigInteger.ONE);
          case 1 -> BigInteger.TEN.pow(random.nextInt(digits));
          case 2 -> BigInteger.TEN.pow(random.nextInt(digits)).multiply(BigInteger.valueOf(5));
          default -> new BigInteger(limit.bitLength(), random).mod(limit);
        };
    return new BigDecimal(random.nextBoolean() ? magnitude : magnitude.negate(), type.scale());
  }

  private Object one(String function, Object a, DataType left, Object b, DataType right) {
    try (Table table = new TableBuilder().column("a", left, a).column("b", right, b).build(device);
        Table output = apply(table, call(function, col("a"), col("b")).as("x"))) {
      return device.rows(output).get(0).get(0);
    }
  }

  private static DataType type(String text) {
    return switch (text) {
      case "INT" -> DataType.INT32;
      case "BIGINT" -> DataType.INT64;
      case "FLOAT" -> DataType.FLOAT32;
      case "DOUBLE" -> DataType.FLOAT64;
      default -> {
        String[] digits = text.replaceAll("[^0-9,]", "").split(",", -1);
        yield DataType.decimal(Integer.parseInt(digits[0]), Integer.parseInt(digits[1]));
      }
    };
  }

  private Table apply(Table table, Expression... projections) {
    return Calc.of(
            table.schema(), Optional.empty(), List.of(projections), ResolutionContext.DEFAULT)
        .apply(table, device.stream(), device.memory());
  }
}
