// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StringCastsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void numbersAreWrittenAsJavaWritesThem() {
    assertThat(toStrings(DataType.BOOL, true, false, null)).containsExactly("TRUE", "FALSE", null);
    assertThat(toStrings(DataType.INT8, (byte) -128, (byte) 0)).containsExactly("-128", "0");
    assertThat(toStrings(DataType.INT64, Long.MIN_VALUE, 42L, null))
        .containsExactly("-9223372036854775808", "42", null);
    assertThat(toStrings(DataType.FLOAT32, 0.1f, Float.NaN, 1e10f))
        .containsExactly("0.1", "NaN", "1.0E10");
    assertThat(toStrings(DataType.FLOAT64, 0.1 + 0.2, -0.0, 1e300))
        .containsExactly("0.30000000000000004", "-0.0", "1.0E300");
  }

  @Test
  void decimalsAreWrittenWithAllDigitsOfTheirScale() {
    assertThat(toStrings(DataType.decimal(5, 2), new BigDecimal("-0.05"), new BigDecimal("1.00")))
        .containsExactly("-0.05", "1.00");
    assertThat(toStrings(DataType.decimal(18, 0), new BigDecimal("7"))).containsExactly("7");
    assertThat(
            toStrings(
                DataType.decimal(38, 38),
                new BigDecimal("-0.00000000000000000000000000000000000001")))
        .containsExactly("-0.00000000000000000000000000000000000001");
  }

  @ParameterizedTest
  @CsvSource({
    "' 12 ', 12",
    "+7, 7",
    "-0012, -12",
    "1.9, 1",
    "-1.9, -1",
    "., 0",
    "-., 0",
    ".5, 0",
    "2147483647.999, 2147483647",
    "-2147483648, -2147483648"
  })
  void integersLoseTheirFraction(String text, int value) {
    assertThat(fromString(DataType.INT32, text)).isEqualTo(value);
  }

  @ParameterizedTest
  @CsvSource({
    "''",
    "'  '",
    "-",
    "+",
    "x",
    "1e3",
    "1.2.3",
    "1.x",
    "2147483648",
    "-2147483649",
    "1 2",
    "'\t1'",
    "99999999999999999999"
  })
  void malformedOrTooLargeIntegersFail(String text) {
    assertFails(DataType.INT32, text);
  }

  @Test
  void narrowIntegersHaveTheirOwnLimits() {
    assertThat(fromString(DataType.INT8, "-128")).isEqualTo((byte) -128);
    assertFails(DataType.INT8, "128");
    assertThat(fromString(DataType.INT16, "32767")).isEqualTo((short) 32767);
    assertFails(DataType.INT16, "-32769");
    assertThat(fromString(DataType.INT64, "-9223372036854775808")).isEqualTo(Long.MIN_VALUE);
    assertFails(DataType.INT64, "9223372036854775808");
  }

  @ParameterizedTest
  @CsvSource({"t, true", "TRUE, true", "yEs, true", "1, true", "F, false", "no, false", "0, false"})
  void booleansAreWords(String text, boolean value) {
    assertThat(fromString(DataType.BOOL, text)).isEqualTo(value);
  }

  @ParameterizedTest
  @CsvSource({"''", "' true'", "2", "on", "truely"})
  void otherWordsAreNotBooleans(String text) {
    assertFails(DataType.BOOL, text);
  }

  @ParameterizedTest
  @CsvSource({
    "1.005, 1.01",
    "-1.005, -1.01",
    "'\t1e1\n', 10.00",
    "12e-1, 1.20",
    ".5, 0.50",
    "1x, 1.00",
    "x, 0.00",
    "999.995, 1000.00",
    "0.00000000000000000000004, 0.00",
    "1.0049999999999999999999999, 1.00"
  })
  void decimalsAreRoundedHalfUp(String text, BigDecimal value) {
    assertThat(fromString(DataType.decimal(5, 2), text)).isEqualTo(value);
  }

  @ParameterizedTest
  @CsvSource({
    "''",
    "1000",
    "0001",
    "1e5",
    "1xy",
    "1.2.3",
    "-",
    "1e-22",
    "1000.0000000000000000000"
  })
  void malformedOrTooLargeDecimalsFail(String text) {
    assertFails(DataType.decimal(5, 2), text);
  }

  @Test
  void wideDecimalsMatchBigDecimal() {
    DataType type = DataType.decimal(38, 2);
    assertThat(fromString(type, "0000000000000000000000000000000000000000001"))
        .isEqualTo(new BigDecimal("1.00"));
    assertThat(fromString(type, "999999999999999999999999999999999999.994"))
        .isEqualTo(new BigDecimal("999999999999999999999999999999999999.99"));
    assertThat(fromString(type, "١e1")).isEqualTo(new BigDecimal("10.00"));
    assertThat(fromString(type, "1e-999999999")).isEqualTo(new BigDecimal("0.00"));
    assertFails(type, "999999999999999999999999999999999999.995");
    assertFails(type, "1e999999999");
    assertFails(type, "1x");
  }

  @Test
  void floatingPointIsReadAsJavaReadsIt() {
    assertThat(fromString(DataType.FLOAT64, " 0.1 ")).isEqualTo(0.1);
    assertThat(fromString(DataType.FLOAT64, "1e400")).isEqualTo(Double.POSITIVE_INFINITY);
    assertThat(fromString(DataType.FLOAT64, "-NaN")).isEqualTo(Double.NaN);
    assertThat(fromString(DataType.FLOAT64, "0x1p3")).isEqualTo(8.0);
    assertThat(fromString(DataType.FLOAT32, "16777217")).isEqualTo(16777216f);
    assertFails(DataType.FLOAT64, "one");
    assertFails(DataType.FLOAT32, "");
  }

  @Test
  void aFailureIsNullForTryCast() {
    List<Object> values =
        evaluate(col("s").tryCast(DataType.INT32), DataType.STRING, "1", "x", null, "-3.2");
    assertThat(values).containsExactly(1, null, null, -3);
  }

  @Test
  void malformedUtf8IsReplaced() {
    ByteBuffer valid = ByteBuffer.wrap("é".getBytes(StandardCharsets.UTF_8));
    ByteBuffer invalid = ByteBuffer.wrap(new byte[] {'a', (byte) 0xff, 'b'});
    assertThat(toStrings(DataType.BINARY, valid, invalid)).containsExactly("é", "a\ufffdb");
    assertThat(evaluate(col("s").cast(DataType.BINARY), DataType.STRING, "é"))
        .containsExactly(valid);
  }

  @Test
  void charactersAreCountedAsCodePoints() {
    assertThat(evaluate(call("CAST_VARCHAR", col("s"), 2), DataType.STRING, "é😀b", "a", "", null))
        .containsExactly("é😀", "a", "", null);
    assertThat(evaluate(call("CAST_CHAR", col("s"), 2), DataType.STRING, "é😀b", "é", "", null))
        .containsExactly("é😀", "é ", "  ", null);
    assertThatThrownBy(() -> evaluate(call("CAST_CHAR", col("s"), 0), DataType.STRING, "a"))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("expected a length of 1 or more for CHAR, got 0");
    assertThat(call("CAST_CHAR", col("s"), 2)).hasToString("CAST(`s` AS CHAR(2))");
  }

  private List<Object> toStrings(DataType from, Object... values) {
    return evaluate(col("s").cast(DataType.STRING), from, values);
  }

  private Object fromString(DataType to, String text) {
    return evaluate(col("s").cast(to), DataType.STRING, text).get(0);
  }

  private void assertFails(DataType to, String text) {
    assertThatThrownBy(() -> fromString(to, text))
        .isInstanceOf(EvaluationException.class)
        .hasMessageContaining("the value cannot be cast in CAST(s AS " + to + ")");
  }

  private List<Object> evaluate(Expression expression, DataType type, Object... values) {
    try (Table table = new TableBuilder().column("s", type, values).build(device);
        Table result =
            Calc.of(
                    table.schema(),
                    Optional.empty(),
                    List.of(expression.as("r")),
                    ResolutionContext.DEFAULT)
                .apply(table, device.stream(), device.memory())) {
      List<Object> results = new ArrayList<>();
      device.rows(result).forEach(row -> results.add(row.get(0)));
      return results;
    }
  }
}
