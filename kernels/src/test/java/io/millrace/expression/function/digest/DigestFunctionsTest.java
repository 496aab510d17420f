// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.digest;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.Table;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.function.Evaluation;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.RandomExtension;
import io.millrace.testing.TableBuilder;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DigestFunctionsTest {
  private static final int LONGEST_MESSAGE = 300;

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  @RegisterExtension final RandomExtension random = new RandomExtension();

  // Lengths around which the padding needs another block.
  @ParameterizedTest
  @CsvSource({
    "MD5, MD5",
    "SHA1, SHA-1",
    "SHA224, SHA-224",
    "SHA256, SHA-256",
    "SHA384, SHA-384",
    "SHA512, SHA-512"
  })
  void messagesOfEachLengthHaveJavasDigest(String function, String algorithm)
      throws NoSuchAlgorithmException {
    Random values = random.random();
    List<Object> messages = new ArrayList<>();
    List<Object> digests = new ArrayList<>();
    for (int length = 0; length <= LONGEST_MESSAGE; length++) {
      byte[] message = new byte[length];
      values.nextBytes(message);
      messages.add(ByteBuffer.wrap(message));
      digests.add(HexFormat.of().formatHex(MessageDigest.getInstance(algorithm).digest(message)));
    }
    messages.add(null);
    digests.add(null);
    try (Table table =
        new TableBuilder().column("x", DataType.BINARY, messages.toArray()).build(device)) {
      assertThat(Evaluation.of(device, table, call(function, col("x")))).isEqualTo(digests);
    }
  }

  @Test
  void stringsAreTheirBytes() {
    try (Table table = new TableBuilder().column("x", DataType.STRING, "abc", "é€").build(device)) {
      assertThat(Evaluation.of(device, table, call("MD5", col("x"))))
          .containsExactly("900150983cd24fb0d6963f7d28e17f72", "d75285edbed0b771f00bbaefc623c709");
    }
  }

  @Test
  void theNumberOfBitsChoosesTheAlgorithm() {
    try (Table table =
        new TableBuilder()
            .column("x", DataType.STRING, "a", "a", "a", "a", "a", null)
            .column("bits", DataType.INT64, 224L, 256L, 384L, 512L, 1L, 3L)
            .build(device)) {
      List<Object> digests = Evaluation.of(device, table, call("SHA2", col("x"), col("bits")));
      assertThat(digests.get(0)).isEqualTo(first(table, "SHA224"));
      assertThat(digests.get(1)).isEqualTo(first(table, "SHA256"));
      assertThat(digests.get(2)).isEqualTo(first(table, "SHA384"));
      assertThat(digests.get(3)).isEqualTo(first(table, "SHA512"));
      assertThat(digests.get(4)).isEqualTo(first(table, "SHA1"));
      assertThat(digests.get(5)).isNull();
      assertThat(Evaluation.of(device, table, call("SHA2", col("x"), lit(384))).get(0))
          .isEqualTo(first(table, "SHA384"));
    }
  }

  private Object first(Table table, String function) {
    return Evaluation.of(device, table, call(function, col("x"))).get(0);
  }

  @Test
  void otherNumbersOfBitsFail() {
    try (Table table =
        new TableBuilder()
            .column("x", DataType.STRING, "a", "a")
            .column("bits", DataType.INT64, 256L, 0L)
            .build(device)) {
      assertThatThrownBy(() -> Evaluation.of(device, table, call("SHA2", col("x"), col("bits"))))
          .isInstanceOf(EvaluationException.class)
          .hasMessageContaining("row 1: values 'a', 0");
      assertThatThrownBy(() -> Evaluation.of(device, table, call("SHA2", col("x"), lit(1))))
          .hasMessageContaining("expected 224, 256, 384 or 512 bits for SHA2, got 1");
    }
  }
}
