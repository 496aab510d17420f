// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.json;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.expression.Expression;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.FunctionCalls;
import io.millrace.testing.DeviceExtension;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class JsonConstructorFunctionsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  private final FunctionCalls calls = new FunctionCalls(device);

  private Object of(Expression expression, Object... row) {
    return calls.evaluate(expression, List.of(Arrays.asList(row))).get(0);
  }

  @Test
  void objectsHaveTheirMembersInTheOrderOfNames() {
    assertThat(
            of(
                call("JSON_OBJECT", "NULL_ON_NULL", "k\"", col("a"), "a", col("b"), "Z", col("c")),
                "x\"\\/\u0001\u001f\u007f\né😀",
                -5,
                null))
        .isEqualTo("{\"Z\":null,\"a\":-5,\"k\\\"\":\"x\\\"\\\\/\\u0001\\u001F\u007f\\né😀\"}");
    assertThat(of(call("JSON_OBJECT", "NULL_ON_NULL"), "")).isEqualTo("{}");
  }

  @Test
  void nullsAreLeftOutIfTheyAreToBeAbsent() {
    Expression object =
        call("JSON_OBJECT", "ABSENT_ON_NULL", "a", col("a"), "b", col("b"), "c", col("c"));
    assertThat(of(object, null, 2, null)).isEqualTo("{\"b\":2}");
    assertThat(of(object, null, null, null)).isEqualTo("{}");
    Expression array = call("JSON_ARRAY", "ABSENT_ON_NULL", col("a"), col("b"));
    assertThat(of(array, null, "x")).isEqualTo("[\"x\"]");
    assertThat(of(call("JSON_ARRAY", "NULL_ON_NULL", col("a"), col("b")), null, "x"))
        .isEqualTo("[null,\"x\"]");
    assertThat(of(call("JSON_ARRAY", "ABSENT_ON_NULL"), "")).isEqualTo("[]");
  }

  @Test
  void nestedConstructorsAreNotQuoted() {
    Expression array = call("JSON_ARRAY", "ABSENT_ON_NULL", 1, col("a"));
    assertThat(of(call("JSON_OBJECT", "NULL_ON_NULL", "a", array, "b", col("a")), "[]"))
        .isEqualTo("{\"a\":[1,\"[]\"],\"b\":\"[]\"}");
    assertThat(of(call("JSON_STRING", array), "x")).isEqualTo("[1,\"x\"]");
  }

  @Test
  void valuesAreWrittenAsByFlink() {
    assertThat(of(call("JSON_STRING", col("a")), (Object) null)).isNull();
    assertThat(of(call("JSON_STRING", true), "")).isEqualTo("true");
    assertThat(of(call("JSON_STRING", nullOf(DataType.BOOL)), "")).isNull();
    assertThat(of(call("JSON_STRING", col("a")), 1e10)).isEqualTo("1.0E+10");
    assertThat(of(call("JSON_STRING", col("a")), -0.0)).isEqualTo("0.0");
    assertThat(of(call("JSON_STRING", col("a")), Double.NaN)).isEqualTo("\"NaN\"");
    assertThat(of(call("JSON_STRING", 0.1f), "")).isEqualTo("0.10000000149011612");
    assertThat(of(call("JSON_STRING", lit(new java.math.BigDecimal("0.00000000"))), ""))
        .isEqualTo("0E-8");
    assertThat(of(call("JSON_STRING", lit(new java.math.BigDecimal("-1.50"))), ""))
        .isEqualTo("-1.50");
    assertThat(of(call("JSON_STRING", col("a")), ByteBuffer.wrap(new byte[] {1, 2, -1})))
        .isEqualTo("\"AQL/\"");
    LocalDateTime time = LocalDateTime.of(2020, 1, 2, 3, 4, 0, 500_000_001);
    assertThat(of(call("JSON_STRING", time), "")).isEqualTo("\"2020-01-02T03:04:00.500000001\"");
    assertThat(of(call("JSON_STRING", Instant.parse("1969-12-31T23:59:59.999Z")), ""))
        .isEqualTo("\"1969-12-31T23:59:59.999Z\"");
  }

  @Test
  void argumentsOfOtherFormsAreRefused() {
    refused("expected each name once, got 'a' twice", "NULL_ON_NULL", "a", 1, "a", 2);
    refused("expected a STRING literal, got", "NULL_ON_NULL", col("a"), 1);
    refused("expected at least 3 arguments, got 2", "NULL_ON_NULL", "a");
    refused("expected 'NULL_ON_NULL' or 'ABSENT_ON_NULL', got 'a'", "a", "a");
    refused("is DATE", "NULL_ON_NULL", "a", LocalDate.of(2020, 1, 1));
  }

  private void refused(String message, Object... arguments) {
    assertThatThrownBy(() -> of(call("JSON_OBJECT", arguments), "x"))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining(message);
  }
}
