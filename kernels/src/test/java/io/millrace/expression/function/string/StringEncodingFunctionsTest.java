// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.function.FunctionCalls;
import io.millrace.testing.DeviceExtension;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class StringEncodingFunctionsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  private final FunctionCalls calls = new FunctionCalls(device);

  @ParameterizedTest
  @CsvSource({"'', ''", "a, YQ==", "ab, YWI=", "abc, YWJj", "é?>, w6k/Pg=="})
  void base64(String text, String encoded) {
    assertThat(calls.of("TO_BASE64", text)).isEqualTo(encoded);
    assertThat(calls.of("FROM_BASE64", encoded)).isEqualTo(text);
    assertThat(calls.of("FROM_BASE64", encoded.replace("=", ""))).isEqualTo(text);
  }

  @Test
  void base64TakesBytes() {
    assertThat(calls.of("TO_BASE64", ByteBuffer.wrap(new byte[] {-1, 0}))).isEqualTo("/wA=");
  }

  @ParameterizedTest
  @ValueSource(strings = {"Y", "YQ=", "YQ===", "=YQ=", "Y Q=", "YQ-_", "Y===", "é"})
  void malformedBase64Fails(String text) {
    assertThatThrownBy(() -> calls.of("FROM_BASE64", text)).isInstanceOf(EvaluationException.class);
  }

  @ParameterizedTest
  @CsvSource({"'a b', a+b", "é&=, %C3%A9%26%3D", "-_.*~, -_.*%7E", "'', ''"})
  void urlsAreEncodedAsForms(String text, String encoded) {
    assertThat(calls.of("URL_ENCODE", text)).isEqualTo(encoded);
    assertThat(calls.of("URL_DECODE", encoded)).isEqualTo(text);
  }

  @ParameterizedTest
  @CsvSource({
    "%4, ",
    "%, ",
    "%zz, ",
    "%-1, ",
    "%+f, '\u000f'",
    "%é0, ",
    "%ff, \ufffd",
    "a%41é, aAé"
  })
  void urlsThatAreMalformedAreNull(String encoded, String expected) {
    assertThat(calls.of("URL_DECODE", encoded)).isEqualTo(expected);
  }

  @Test
  void characterSetsMatchJava() {
    assertThat(calls.of("ENCODE", "aé", "ISO-8859-1"))
        .isEqualTo(ByteBuffer.wrap(new byte[] {'a', (byte) 0xe9}));
    assertThat(calls.of("DECODE", ByteBuffer.wrap(new byte[] {'a', (byte) 0xe9}), "latin1"))
        .isEqualTo("aé");
    assertThatThrownBy(() -> calls.of("ENCODE", "a", "no such"))
        .isInstanceOf(EvaluationException.class);
    assertThatThrownBy(() -> calls.of("DECODE", ByteBuffer.wrap(new byte[1]), "x-no"))
        .isInstanceOf(EvaluationException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "HOST, example.com",
    "PATH, /p/q",
    "QUERY, k=v&x=1",
    "REF, r",
    "PROTOCOL, https",
    "FILE, /p/q?k=v&x=1",
    "AUTHORITY, u:pw@example.com:81",
    "USERINFO, u:pw",
    "PORT, "
  })
  void parsesUrls(String part, String expected) {
    assertThat(calls.of("PARSE_URL", "https://u:pw@example.com:81/p/q?k=v&x=1#r", part))
        .isEqualTo(expected);
  }

  @Test
  void parsesParametersOfQueries() {
    assertThat(calls.of("PARSE_URL", "http://h/?k=v&x=1", "QUERY", "x")).isEqualTo("1");
    assertThat(calls.of("PARSE_URL", "http://h/?k=v&x=1", "QUERY", "k")).isEqualTo("v");
    assertThat(calls.of("PARSE_URL", "http://h/?k=v&x=1", "QUERY", "y")).isNull();
    assertThat(calls.of("PARSE_URL", "http://h/?k=v&x=1", "HOST", "x")).isNull();
    assertThat(calls.of("PARSE_URL", "no url", "HOST")).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "1.2.3.4, 16909060",
    "1.2, 16777218",
    "1.2.3, 16908291",
    "255, 255",
    "0001.002.0.255, 16908543",
    "255.255.255.255, 4294967295",
    "256, ",
    "1..2, ",
    "1.2.3.4.5, ",
    "1.2.3., ",
    "'', ",
    "a, ",
    "١, "
  })
  void addressesHaveNumbers(String address, Long number) {
    assertThat(calls.of("INET_ATON", address)).isEqualTo(number);
  }

  @ParameterizedTest
  @CsvSource({
    "16909060, 1.2.3.4",
    "0, 0.0.0.0",
    "4294967295, 255.255.255.255",
    "4294967296, ",
    "-1, "
  })
  void numbersHaveAddresses(long number, String address) {
    assertThat(calls.of("INET_NTOA", number)).isEqualTo(address);
  }

  @ParameterizedTest
  @MethodSource("quotedTexts")
  void jsonStringsAreQuoted(String text, String quoted) {
    assertThat(calls.of("JSON_QUOTE", text)).isEqualTo(quoted);
  }

  static Stream<Arguments> quotedTexts() {
    return Stream.of(
        arguments("", "\"\""),
        arguments("{\"k\": [1]}", "\"{\\\"k\\\": [1]}\""),
        arguments("\\ a/b", "\"\\\\ a\\/b\""),
        arguments("\b\t\n\f\r", "\"\\b\\t\\n\\f\\r\""),
        arguments("\0\013\037\177", "\"\0\013\037\177\""),
        arguments("\u0080\u00e9\u07ff", "\"\\u0080\\u00e9\\u07ff\""),
        arguments("\u0800\u20ac\uffff", "\"\\u0800\\u20ac\\uffff\""),
        arguments("\ud83d\ude00a", "\"\\u1f600\\ude00a\""),
        arguments("\udbff\udfff", "\"\\u10ffff\\udfff\""));
  }

  @Test
  void malformedUtf8IsReplacedInJsonStrings() {
    ByteBuffer bytes = ByteBuffer.wrap(new byte[] {'a', (byte) 0xff, (byte) 0xff, (byte) 0xff});
    assertThat(
            calls.evaluate(
                call("JSON_QUOTE", call("FROM_BASE64", call("TO_BASE64", col("a")))),
                List.of(List.of(bytes))))
        .containsExactly("\"a\\ufffd\\ufffd\\ufffd\"");
  }

  @Test
  void jsonStringsOfNullAreNull() {
    assertThat(calls.of("JSON_QUOTE", (Object) null)).isNull();
  }
}
