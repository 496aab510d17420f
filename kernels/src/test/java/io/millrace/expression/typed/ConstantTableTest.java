// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.typed;

import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.vector.RowHash;
import io.millrace.testing.CalcResults;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Lookups in constant tables: many rows, and constants with equal hashes. */
class ConstantTableTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  private final CalcResults results =
      new CalcResults(ResolutionContext.DEFAULT, device, Integer.MAX_VALUE);

  /**
   * The lists contain even numbers. Looks up all rows, then the rows in which {@code b} is true.
   */
  @Test
  void manyRowsAreLookedUpAtOnce() {
    int rows = 3000;
    IntFunction<Object> text = i -> "name " + i + "*".repeat(i % 20);
    IntFunction<Object> decimal = i -> BigDecimal.valueOf(i).scaleByPowerOfTen(18).setScale(6);
    int[] numbers = random.random().ints(rows, 0, 2000).toArray();
    Object[] isAsked = IntStream.range(0, rows).mapToObj(i -> numbers[i] % 3 == 0).toArray();
    List<Object> expected = new ArrayList<>();
    List<Object> expectedOfAsked = new ArrayList<>();
    for (int number : numbers) {
      expected.add(number % 10 == 0 ? null : number % 2 == 0);
      expectedOfAsked.add((number % 10 == 0 || number % 3 != 0) ? null : number % 2 == 0);
    }
    try (Table table =
        new TableBuilder()
            .column("b", DataType.BOOL, isAsked)
            .column("l", DataType.INT64, values(numbers, i -> (long) i))
            .column("s", DataType.STRING, values(numbers, text))
            .column("m", DataType.decimal(30, 6), values(numbers, decimal))
            .column("d", DataType.FLOAT64, values(numbers, i -> i * 0.5))
            .build(device)) {
      List<Expression> all =
          List.of(
              col("l").in(constants(1000, i -> 2L * i)),
              col("s").in(constants(1000, i -> text.apply(2 * i))),
              col("m").in(constants(1000, i -> decimal.apply(2 * i))),
              col("d").in(constants(1000, i -> (double) i)));
      List<Expression> asked =
          all.stream().map(in -> col("b").then(in, nullOf(DataType.BOOL))).toList();

      assertThat(results.evaluate(table, all)).containsOnly(expected);
      assertThat(results.evaluate(table, asked)).containsOnly(expectedOfAsked);
    }
  }

  /** Null if the number is divisible by ten. */
  private static Object[] values(int[] numbers, IntFunction<Object> value) {
    return Arrays.stream(numbers).mapToObj(i -> i % 10 == 0 ? null : value.apply(i)).toArray();
  }

  @Test
  void constantsWithEqualHashesAreDistinguished() {
    long first = 12;
    long second = 34;
    BigDecimal known = decimal(first, second);
    BigDecimal other;
    do {
      // Makes the hash before the last step equal: see RowHash.mix.
      long otherFirst = random.random().nextLong();
      long factor = 0x9e3779b97f4a7c15L;
      long otherSecond =
          RowHash.mix(first, 0) * factor + second - RowHash.mix(otherFirst, 0) * factor;
      assertThat(RowHash.mix(otherSecond, RowHash.mix(otherFirst, 0)))
          .isEqualTo(RowHash.mix(second, RowHash.mix(first, 0)));
      other = decimal(otherFirst, otherSecond);
    } while (other.precision() > 38);
    BigDecimal both = other;
    try (Table table =
        new TableBuilder().column("m", DataType.decimal(38, 0), known, other).build(device)) {
      assertThat(
              results.evaluate(
                  table,
                  List.of(
                      col("m").in(constants(9, i -> i == 0 ? known : decimal(i, i))),
                      col("m").in(constants(9, i -> i == 0 ? both : decimal(i, i))),
                      col("m")
                          .in(constants(9, i -> i < 2 ? (i == 0 ? known : both) : decimal(i, i))))))
          .containsExactly(List.of(true, false), List.of(false, true), List.of(true, true));
    }
  }

  private static BigDecimal decimal(long low, long high) {
    return new BigDecimal(
        BigInteger.valueOf(high)
            .shiftLeft(Long.SIZE)
            .add(new BigInteger(Long.toUnsignedString(low))));
  }

  private static Object[] constants(int count, IntFunction<Object> constant) {
    return IntStream.range(0, count).mapToObj(constant).toArray();
  }
}
