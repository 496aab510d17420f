// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.numeric;

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
import io.millrace.testing.RandomExtension;
import io.millrace.testing.RandomTables;
import io.millrace.testing.TableBuilder;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Casts between numbers, compared with Java, and between decimals and other types, compared with
 * Flink.
 */
class NumericCastsTest {
  private static final int ROWS = 300;
  private static final List<DataType> TYPES =
      List.of(
          DataType.BOOL,
          DataType.INT8,
          DataType.INT16,
          DataType.INT32,
          DataType.INT64,
          DataType.FLOAT32,
          DataType.FLOAT64,
          DataType.decimal(4, 1),
          DataType.decimal(9, 0),
          DataType.decimal(9, 4),
          DataType.decimal(18, 3),
          DataType.decimal(18, 17),
          DataType.decimal(25, 6),
          DataType.decimal(38, 0),
          DataType.decimal(38, 19),
          DataType.decimal(38, 37));

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension randomness = new RandomExtension();

  @Test
  void eachNumericTypeIsCastToEachOther() {
    RandomTables tables = new RandomTables(randomness.random(), 0.1);
    for (DataType from : TYPES) {
      List<Object> values = new ArrayList<>(special(from));
      while (values.size() < ROWS) {
        values.add(tables.value(from));
      }
      for (DataType to : TYPES) {
        check(from, values, to);
      }
    }
  }

  private void check(DataType from, List<Object> values, DataType to) {
    boolean mayFail = from.isFloatingPoint() && to.isDecimal();
    List<Object> taken = mayFail ? values.stream().filter(this::isFinite).toList() : values;
    try (Table table = table(from, taken);
        Table result = apply(table, col("x").cast(to).as("y"))) {
      List<List<Object>> rows = device.rows(result);
      for (int row = 0; row < taken.size(); row++) {
        Object value = taken.get(row);
        assertThat(rows.get(row).get(0))
            .as("CAST(%s %s AS %s)", from, value, to)
            .isEqualTo(value == null ? null : cast(value, from, to));
      }
    }
  }

  private boolean isFinite(Object value) {
    return value != null && Double.isFinite(((Number) value).doubleValue());
  }

  private static List<Object> special(DataType type) {
    return switch (type.id()) {
      case FLOAT32 ->
          List.of(Float.NaN, Float.POSITIVE_INFINITY, -0.0f, 127.5f, -128.9f, 3e9f, -1e19f, 0.5f);
      case FLOAT64 ->
          List.of(
              Double.NaN,
              Double.NEGATIVE_INFINITY,
              -0.0,
              2147483647.5,
              9.3e18,
              0.45,
              1.005,
              2.5e-7);
      default -> List.of();
    };
  }

  private static Object cast(Object value, DataType from, DataType to) {
    if (to.isDecimal()) {
      return fit(exact(value), to);
    }
    if (from.isDecimal()) {
      return fromDecimal((BigDecimal) value, from, to);
    }
    if (value instanceof Boolean bool) {
      return narrow(bool ? 1 : 0, to);
    }
    if (value instanceof Float || value instanceof Double) {
      double number = ((Number) value).doubleValue();
      return switch (to.id()) {
        case BOOL -> number != 0;
        case INT64 -> (long) number;
        case FLOAT32 -> (float) number;
        case FLOAT64 -> number;
        default -> narrow((int) number, to);
      };
    }
    return narrow(((Number) value).longValue(), to);
  }

  private static Object narrow(long value, DataType to) {
    return switch (to.id()) {
      case BOOL -> value != 0;
      case INT8 -> (byte) value;
      case INT16 -> (short) value;
      case INT32 -> (int) value;
      case FLOAT32 -> (float) value;
      case FLOAT64 -> (double) value;
      default -> value;
    };
  }

  private static BigDecimal exact(Object value) {
    if (value instanceof Boolean bool) {
      return bool ? BigDecimal.ONE : BigDecimal.ZERO;
    }
    if (value instanceof Float || value instanceof Double) {
      return BigDecimal.valueOf(((Number) value).doubleValue());
    }
    return value instanceof BigDecimal decimal
        ? decimal
        : BigDecimal.valueOf(((Number) value).longValue());
  }

  private static BigDecimal fit(BigDecimal value, DataType to) {
    BigDecimal scaled = value.setScale(to.scale(), RoundingMode.HALF_UP);
    return scaled.precision() > to.precision() ? null : scaled;
  }

  private static Object fromDecimal(BigDecimal value, DataType from, DataType to) {
    double number =
        from.precision() <= 18
            ? value.unscaledValue().longValue() / Math.pow(10, from.scale())
            : value.doubleValue();
    return switch (to.id()) {
      case BOOL -> value.signum() != 0;
      case FLOAT32 -> (float) number;
      case FLOAT64 -> number;
      default -> narrow(value.setScale(0, RoundingMode.DOWN).toBigInteger().longValue(), to);
    };
  }

  @Test
  void nanAndInfinitiesCannotBeCastToDecimal() {
    for (double value : new double[] {Double.NaN, Double.POSITIVE_INFINITY}) {
      try (Table table = table(DataType.FLOAT64, List.of(value))) {
        for (int precision : new int[] {5, 15, 38}) {
          DataType to = DataType.decimal(precision, 2);
          assertThatThrownBy(() -> apply(table, col("x").cast(to).as("y")))
              .isInstanceOf(EvaluationException.class)
              .hasMessageContaining("cannot be cast");
          try (Table result = apply(table, new Expression.Cast(col("x"), to, true).as("y"))) {
            assertThat(device.rows(result).get(0).get(0)).isNull();
          }
        }
      }
    }
  }

  @Test
  void aBooleanCannotBeCastToADecimalWithoutIntegerDigits() {
    try (Table table = table(DataType.BOOL, List.of(true))) {
      assertThatThrownBy(() -> apply(table, col("x").cast(DataType.decimal(3, 3)).as("y")))
          .isInstanceOf(ExpressionException.class)
          .hasMessageContaining("DECIMAL(3, 3)");
    }
  }

  private Table table(DataType type, List<Object> values) {
    return new TableBuilder().column("x", type, values.toArray()).build(device);
  }

  private Table apply(Table table, Expression... projections) {
    return Calc.of(
            table.schema(), Optional.empty(), List.of(projections), ResolutionContext.DEFAULT)
        .apply(table, device.stream(), device.memory());
  }
}
