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
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Mathematical functions of decimals, compared with Flink's DecimalDataUtils. */
class DecimalFunctionsTest {
  private static final int ROWS = 100;
  private static final int TYPES = 60;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension randomness = new RandomExtension();

  @Test
  void signsAndMagnitudesKeepTheType() {
    for (DataType type : types()) {
      check(call("ABS", col("x")), type, type, BigDecimal::abs);
      check(call("NEGATE", col("x")), type, type, BigDecimal::negate);
      if (type.precision() > type.scale()) {
        check(call("SIGN", col("x")), type, type, x -> BigDecimal.valueOf(x.signum()));
      }
    }
  }

  @Test
  void wholeNumbersKeepThePrecision() {
    for (DataType type : types()) {
      DataType whole = DataType.decimal(type.precision(), 0);
      check(call("FLOOR", col("x")), type, whole, x -> x.setScale(0, RoundingMode.FLOOR));
      check(call("CEIL", col("x")), type, whole, x -> x.setScale(0, RoundingMode.CEILING));
    }
  }

  @Test
  void digitsAreRoundedHalfUpOrTruncated() {
    for (DataType type : types()) {
      for (int digits : new int[] {type.scale() + 1, type.scale(), 2, 1, 0, -1, -3, -38, -60}) {
        checkRounding("ROUND", RoundingMode.HALF_UP, type, digits);
        checkRounding("TRUNCATE", RoundingMode.DOWN, type, digits);
      }
      DataType result = rounded(type, 0);
      check(call("ROUND", col("x")), type, result, x -> x.setScale(0, RoundingMode.HALF_UP));
    }
  }

  private void checkRounding(String function, RoundingMode mode, DataType type, int digits) {
    check(
        call(function, col("x"), digits),
        type,
        rounded(type, digits),
        x -> x.movePointRight(digits).setScale(0, mode).movePointLeft(digits));
  }

  private static DataType rounded(DataType type, int digits) {
    if (digits >= type.scale()) {
      return type;
    }
    int whole = type.precision() - type.scale();
    return DataType.decimal(Math.min(38, whole + 1 + Math.max(digits, 0)), Math.max(digits, 0));
  }

  @Test
  void aRoundedNumberOf39DigitsIsNull() {
    DataType type = DataType.decimal(38, 0);
    BigDecimal most = BigDecimal.TEN.pow(38).subtract(BigDecimal.ONE);
    assertThat(evaluate(call("ROUND", col("x"), -37), type, List.of(most))).containsOnlyNulls();
    assertThat(evaluate(call("TRUNCATE", col("x"), -37), type, List.of(most)))
        .containsExactly(BigDecimal.TEN.pow(37).multiply(BigDecimal.valueOf(9)));
  }

  // Flink checks the precision only for decimals of more than 18 digits.
  @Test
  void theSignOfAFractionIsOutOfRangeOrNull() {
    List<Object> half = List.of(new BigDecimal("-0.50"));
    assertThat(evaluate(call("SIGN", col("x")), DataType.decimal(2, 2), half))
        .containsExactly(new BigDecimal("-1.00"));
    List<Object> wide = List.of(new BigDecimal("0.5").setScale(38));
    assertThat(evaluate(call("SIGN", col("x")), DataType.decimal(38, 38), wide))
        .containsOnlyNulls();
  }

  @Test
  void theDigitsOfARoundingMustBeALiteral() {
    assertThatThrownBy(
            () ->
                evaluate(
                    call("ROUND", col("x"), col("x").cast(DataType.INT32)),
                    DataType.decimal(5, 2),
                    List.of(BigDecimal.ONE.setScale(2))))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("expected an integer literal");
  }

  private List<DataType> types() {
    List<DataType> types = new ArrayList<>();
    randomness
        .random()
        .ints(TYPES, 1, 39)
        .forEach(
            precision -> types.add(DataType.decimal(precision, precision * types.size() / TYPES)));
    types.add(DataType.decimal(38, 0));
    return types;
  }

  private void check(
      Expression expression,
      DataType type,
      DataType resultType,
      UnaryOperator<BigDecimal> function) {
    RandomTables tables = new RandomTables(randomness.random(), 0.1);
    List<Object> values = new ArrayList<>();
    List<Object> expected = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      BigDecimal value = (BigDecimal) tables.value(type);
      values.add(value);
      expected.add(value == null ? null : fit(function.apply(value), resultType));
    }
    assertThat(evaluate(expression, type, values))
        .as("%s of %s: %s", expression, type, values)
        .isEqualTo(expected);
  }

  private static BigDecimal fit(BigDecimal value, DataType type) {
    BigDecimal scaled = value.setScale(type.scale(), RoundingMode.UNNECESSARY);
    return scaled.precision() > type.precision() ? null : scaled;
  }

  private List<Object> evaluate(Expression expression, DataType type, List<Object> values) {
    try (Table table = new TableBuilder().column("x", type, values.toArray()).build(device);
        Table result =
            Calc.of(
                    table.schema(),
                    Optional.empty(),
                    List.of(expression.as("y")),
                    ResolutionContext.DEFAULT)
                .apply(table, device.stream(), device.memory())) {
      List<Object> results = new ArrayList<>();
      device.rows(result).forEach(row -> results.add(row.get(0)));
      return results;
    }
  }
}
