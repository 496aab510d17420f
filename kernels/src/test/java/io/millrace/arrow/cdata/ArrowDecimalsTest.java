// SPDX-License-Identifier: Apache-2.0
package io.millrace.arrow.cdata;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.arrow.ArrowFormatException;
import io.millrace.arrow.Borders;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.testing.TableBuilder;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Decimals of another producer at and beyond the precision that it declares, at each border. */
class ArrowDecimalsTest extends ArrowCDeviceTestCase {
  private static final int SCALE = 0;

  private static Schema schema(int precision) {
    return Schema.of(Field.of("p", DataType.decimal(precision, SCALE)));
  }

  private static BigDecimal power(int exponent) {
    return new BigDecimal(BigInteger.TEN.pow(exponent));
  }

  // The producer holds them in a type of more digits, which has the same layout in Arrow.
  @ParameterizedTest
  @CsvSource({"1, 9", "5, 9", "9, 18", "10, 18", "18, 38", "19, 38", "37, 38"})
  void decimalsAreHeldToTheirPrecision(int precision, int held) throws IOException {
    BigDecimal limit = power(precision);
    List<BigDecimal> fitting =
        Arrays.asList(
            limit.subtract(BigDecimal.ONE),
            limit.negate().add(BigDecimal.ONE),
            null,
            BigDecimal.ZERO);
    try (Table table = new TableBuilder().column(schema(held).field(0), fitting).build(device)) {
      for (Borders.Border border : new Borders(device, allocator).all().values()) {
        try (Table taken = border.cross(table, schema(precision))) {
          assertThat(device.rows(taken)).isEqualTo(device.rows(table));
        }
      }
    }
    for (BigDecimal tooLarge :
        List.of(limit, limit.negate(), power(held).subtract(BigDecimal.ONE))) {
      List<BigDecimal> values = Arrays.asList(null, BigDecimal.ZERO, tooLarge);
      try (Table table = new TableBuilder().column(schema(held).field(0), values).build(device)) {
        new Borders(device, allocator)
            .all()
            .forEach(
                (name, border) ->
                    assertThatThrownBy(() -> border.cross(table, schema(precision)).close())
                        .as(name)
                        .isInstanceOf(ArrowFormatException.class)
                        .hasMessageContaining("column 'p'")
                        .hasMessageEndingWith(
                            "a value in row 2 that is too large for DECIMAL("
                                + precision
                                + ", 0)"));
      }
    }
  }
}
