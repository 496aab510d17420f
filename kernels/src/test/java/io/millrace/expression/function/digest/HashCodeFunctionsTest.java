// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.digest;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.Evaluation;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class HashCodeFunctionsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void longsHaveJavasHash() {
    Object[] values = {0L, 1L, -1L, 1L << 40, Long.MIN_VALUE, null};
    try (Table table = new TableBuilder().column("x", DataType.INT64, values).build(device)) {
      assertThat(Evaluation.of(device, table, call("HASH_CODE", col("x"))))
          .containsExactly(0, 1, 0, 256, Integer.MIN_VALUE, null);
    }
  }

  @Test
  void smallerIntegersAreTheirHash() {
    try (Table table = new TableBuilder().column("x", DataType.INT8, (byte) -7).build(device)) {
      assertThat(Evaluation.of(device, table, call("HASH_CODE", col("x")))).containsExactly(-7);
    }
  }

  @Test
  void stringsHaveTheAbsoluteValueOfJavasHash() {
    String[] texts = {"", "Hello World", "a longer text of ASCII", "é€", "ab\uD83D\uDE00", null};
    try (Table table =
        new TableBuilder().column("x", DataType.STRING, (Object[]) texts).build(device)) {
      assertThat(Evaluation.of(device, table, call("HASH_CODE", col("x"))))
          .containsExactly(
              0,
              862_545_276,
              magnitude(texts[2].hashCode()),
              magnitude(texts[3].hashCode()),
              magnitude(texts[4].hashCode()),
              null);
    }
  }

  @Test
  void otherTypesAreRefused() {
    try (Table table = new TableBuilder().column("x", DataType.FLOAT64, 1.5).build(device)) {
      assertThatThrownBy(() -> Evaluation.of(device, table, call("HASH_CODE", col("x"))))
          .isInstanceOf(ExpressionException.class)
          .hasMessageContaining("DOUBLE");
    }
  }

  private static int magnitude(int hash) {
    return hash < 0 ? -hash : hash;
  }
}
