// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.comparison;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntPredicate;
import java.util.stream.DoubleStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Comparisons of decimals with other numeric types, as in Flink. */
class DecimalComparisonTest {
  private static final int ROWS = 200;
  private static final Map<String, IntPredicate> ORDERINGS =
      Map.of("<", o -> o < 0, "<=", o -> o <= 0, ">", o -> o > 0, ">=", o -> o >= 0);
  private static final List<DataType> TYPES =
      List.of(
          DataType.INT8,
          DataType.INT64,
          DataType.decimal(2, 2),
          DataType.decimal(9, 4),
          DataType.decimal(18, 0),
          DataType.decimal(38, 0),
          DataType.decimal(38, 19),
          DataType.decimal(38, 38));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension randomness = new RandomExtension();

  @Test
  void orderIsExactWhateverThePrecisionsAndScales() {
    RandomTables tables = new RandomTables(randomness.random(), 0);
    for (DataType left : TYPES) {
      for (DataType right : TYPES) {
        List<Object> a = new ArrayList<>();
        List<Object> b = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
          a.add(tables.value(left));
          b.add(i % 4 == 0 && left.equals(right) ? a.get(i) : tables.value(right));
        }
        ORDERINGS.forEach(
            (symbol, holds) ->
                assertThat(compare(symbol, left, a, right, b))
                    .as("%s %s %s of %s and %s", left, symbol, right, a, b)
                    .isEqualTo(expected(a, b, (x, y) -> holds.test(exact(x).compareTo(exact(y))))));
      }
    }
  }

  @Test
  void equalityIsComputedInTheCommonType() {
    DataType fraction = DataType.decimal(38, 38);
    List<Object> a = List.of(new BigDecimal("0." + "0".repeat(20) + "1" + "0".repeat(17)));
    List<Object> zero = List.of(0L);
    // The common type of BIGINT and DECIMAL(38, 38) is DECIMAL(38, 19), in which the fraction is
    // zero.
    assertThat(compare("=", fraction, a, DataType.INT64, zero)).containsExactly(true);
    assertThat(compare("<>", fraction, a, DataType.INT64, zero)).containsExactly(false);
    assertThat(compare(">", fraction, a, DataType.INT64, zero)).containsExactly(true);
  }

  @Test
  void floatingPointNumbersAreOrderedAsJavaOrdersThem() {
    List<Object> decimals = new ArrayList<>();
    List<Object> doubles = new ArrayList<>();
    for (String decimal : List.of("0.00", "-1.50", "123.45", "999.99")) {
      DoubleStream.of(Double.NaN, -0.0, 0.0, -1.5, 123.45, 123.46, 1e300)
          .forEach(
              number -> {
                decimals.add(new BigDecimal(decimal));
                doubles.add(number);
              });
    }
    DataType type = DataType.decimal(5, 2);
    ORDERINGS.forEach(
        (symbol, holds) -> {
          assertThat(compare(symbol, type, decimals, DataType.FLOAT64, doubles))
              .as(symbol)
              .isEqualTo(expected(decimals, doubles, (x, y) -> holds.test(order(x, y))));
          assertThat(compare(symbol, DataType.FLOAT64, doubles, type, decimals))
              .as(symbol)
              .isEqualTo(expected(doubles, decimals, (x, y) -> holds.test(order(x, y))));
        });
  }

  @Test
  void floatingPointNumbersAreEqualAsPrimitives() {
    List<Object> decimals =
        List.of(new BigDecimal("0.00"), new BigDecimal("0.00"), new BigDecimal("1.50"));
    List<Object> doubles = List.of(-0.0, Double.NaN, 1.5);
    assertThat(compare("=", DataType.decimal(5, 2), decimals, DataType.FLOAT64, doubles))
        .containsExactly(true, false, true);
  }

  @FunctionalInterface
  private interface Relation {
    boolean holds(Object left, Object right);
  }

  private static List<Object> expected(List<Object> a, List<Object> b, Relation relation) {
    List<Object> expected = new ArrayList<>();
    for (int i = 0; i < a.size(); i++) {
      expected.add(relation.holds(a.get(i), b.get(i)));
    }
    return expected;
  }

  private static BigDecimal exact(Object value) {
    return value instanceof BigDecimal decimal
        ? decimal
        : BigDecimal.valueOf(((Number) value).longValue());
  }

  private static int order(Object left, Object right) {
    return Double.compare(((Number) left).doubleValue(), ((Number) right).doubleValue());
  }

  private List<Object> compare(
      String symbol, DataType left, List<Object> a, DataType right, List<Object> b) {
    try (Table table =
            new TableBuilder()
                .column("a", left, a.toArray())
                .column("b", right, b.toArray())
                .build(device);
        Table result =
            Calc.of(
                    table.schema(),
                    Optional.empty(),
                    List.of(call(symbol, col("a"), col("b")).as("x")),
                    ResolutionContext.DEFAULT)
                .apply(table, device.stream(), device.memory())) {
      return device.rows(result).stream().map(row -> row.get(0)).toList();
    }
  }
}
