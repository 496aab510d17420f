// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.comparison;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.FunctionRegistry;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.testing.CalcResults;
import io.millrace.testing.CalcResults.RowFailure;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Behaviour that differs from Flink; the parity tests cover the common behaviour. */
class ImplicitStringComparisonTest {
  private static final ResolutionContext BERLIN =
      new ResolutionContext(ZoneId.of("Europe/Berlin"), FunctionRegistry.builtIn());
  private static final Schema SCHEMA =
      Schema.of(
          Field.of("i", DataType.INT32),
          Field.of("f", DataType.FLOAT32),
          Field.of("m", DataType.decimal(10, 2)),
          Field.of("d", DataType.DATE),
          Field.of("t", DataType.TIME),
          Field.of("ts", DataType.timestamp(3)),
          Field.of("nanos", DataType.timestamp(9)),
          Field.of("instant", DataType.timestamp(3, true)),
          Field.of("s", DataType.STRING));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '"',
      value = {
        "i ; 2.9 ; (CAST(i AS BIGINT) >= 2)",
        "f ; 0.1 ; (f >= 0.1)",
        "m ; 1.505 ; (CAST(m AS DECIMAL(21, 2)) >= 1.51)",
        "d ; 2026-3-1 ; (d >= DATE '2026-03-01')",
        "t ; 10:20:30.5 ; (t >= TIME '10:20:30.500')",
        "ts ; 2026-03-01 ; (ts >= TIMESTAMP(3) '2026-03-01T00:00')",
        "nanos ; 2026-03-01 00:00:00.000000001 ; (nanos >= TIMESTAMP(9) '2026-03-01 00:00:00.000000001')",
        "instant ; 2026-03-01 ; (instant >= TIMESTAMP_LTZ(3) '2026-02-28T23:00:00Z')",
      })
  void aLiteralIsCastToTheOtherTypeOnce(String column, String text, String expected) {
    assertThat(resolve(col(column).ge(text))).hasToString(expected);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '#',
      value = {
        "i ; abc ; expected BIGINT, got 'abc'",
        "d ; soon ; expected DATE, got 'soon'",
        "t ; 25:00:00 ; expected TIME, got '25:00:00'",
        "ts ; 2026-03-01T10:20:30 ; expected TIMESTAMP(3), got '2026-03-01T10:20:30'",
        "nanos ; x ; expected TIMESTAMP(9), got 'x'"
      })
  void aLiteralThatCannotBeCastIsRefused(String column, String text, String message) {
    assertThatThrownBy(() -> resolve(col(column).lt(text)))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining(message);
    assertThatThrownBy(() -> resolve(call("IN", col(column), text, text)))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining(", got '" + text + "'");
  }

  @Test
  void equalityWithANumberIsRefused() {
    assertThatThrownBy(() -> resolve(col("i").isEqual("1")))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("cannot test STRING and INT for equality");
  }

  @Test
  void aMalformedDateEqualsNothingAndFailsIfOrdered() {
    LocalDate date = LocalDate.of(2026, 3, 1);
    try (Table table =
        new TableBuilder()
            .column("d", DataType.DATE, date, date, null)
            .column("s", DataType.STRING, "2026-03-01", "soon", "soon")
            .build(device)) {
      List<List<Object>> results =
          new CalcResults(BERLIN, device, Integer.MAX_VALUE)
              .evaluate(
                  table,
                  List.of(
                      call("IS NOT DISTINCT FROM", col("d"), col("s")),
                      call("COALESCE", col("d").isEqual(col("s")), false),
                      col("d").le(col("s"))));
      assertThat(results.get(0)).containsExactly(true, false, false);
      assertThat(results.get(1)).containsExactly(true, false, false);
      assertThat(results.get(2).get(0)).isEqualTo(true);
      assertThat(results.get(2).get(1)).isInstanceOf(RowFailure.class);
    }
  }

  private static TypedExpression resolve(Expression expression) {
    return new ExpressionResolver(SCHEMA, BERLIN).resolve(expression);
  }
}
