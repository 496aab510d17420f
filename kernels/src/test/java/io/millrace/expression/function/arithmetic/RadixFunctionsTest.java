// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.arithmetic;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.function.Evaluation;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RadixFunctionsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void digitsOfNegativeNumbersHave64Bits() {
    Object[] values = {0L, 5L, -2L, Long.MIN_VALUE, null};
    try (Table table = new TableBuilder().column("x", DataType.INT64, values).build(device)) {
      assertThat(Evaluation.of(device, table, call("BIN", col("x"))))
          .containsExactly("0", "101", "1".repeat(63) + "0", "1" + "0".repeat(63), null);
      assertThat(Evaluation.of(device, table, call("HEX", col("x"))))
          .containsExactly("0", "5", "FFFFFFFFFFFFFFFE", "8000000000000000", null);
    }
  }

  @Test
  void digitsOfStringsEncodeTheirBytes() {
    Object[] values = {"", "abc", "é€", "z\0", null};
    try (Table table = new TableBuilder().column("x", DataType.STRING, values).build(device)) {
      assertThat(Evaluation.of(device, table, call("HEX", col("x"))))
          .containsExactly("", "616263", "C3A9E282AC", "7A00", null);
    }
  }

  @Test
  void malformedTextIsReplaced() {
    Object[] values = {ByteBuffer.wrap(new byte[] {'a', (byte) 0xff, 'b'})};
    try (Table table = new TableBuilder().column("x", DataType.BINARY, values).build(device)) {
      assertThat(Evaluation.of(device, table, call("HEX", col("x").cast(DataType.STRING))))
          .containsExactly("61EFBFBD62");
    }
  }

  @Test
  void digitsDecodeToBytesAndOtherCharactersToNull() {
    Object[] values = {"", "616263", "fFeE", "6", "abc", "G", "0g", "é", null};
    try (Table table = new TableBuilder().column("x", DataType.STRING, values).build(device)) {
      assertThat(Evaluation.of(device, table, call("UNHEX", col("x"))))
          .containsExactly(
              bytes(""),
              bytes("616263"),
              bytes("ffee"),
              bytes("00"),
              bytes("00bc"),
              null,
              null,
              null,
              null);
    }
  }

  private static ByteBuffer bytes(String digits) {
    return ByteBuffer.wrap(HexFormat.of().parseHex(digits));
  }
}
