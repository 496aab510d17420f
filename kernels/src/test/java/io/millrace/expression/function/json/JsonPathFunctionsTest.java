// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.json;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.error.InvalidArgumentException;
import io.millrace.expression.function.FunctionCalls;
import io.millrace.testing.DeviceExtension;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonPathFunctionsTest {
  private static final String TEXT =
      "{\"a\": {\"b\": [10, -0.50, {\"k\": \"v\"}]}, \"s\": \"x\\u00e9\\/\\n\\ud83d\\ude00\","
          + " \"t\": true, \"n\": null, \"a b\": 7, \"i\": 1e2}";

  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  private final FunctionCalls calls = new FunctionCalls(device);

  private Object of(String function, String text, Object... rest) {
    List<Object> arguments = new ArrayList<>(List.of(col("a")));
    arguments.addAll(Arrays.asList(rest));
    return calls
        .evaluate(
            call(function, arguments.toArray()), List.of(Collections.singletonList((Object) text)))
        .get(0);
  }

  @ParameterizedTest
  @CsvSource({
    "$.a.b[0], 10",
    "lax $.a.b[1], -0.50",
    "strict $.a.b[-1].k, v",
    "$['a'][\"b\"][ 2 ].k, v",
    "LAX  $.t, true",
    "$['a b'], 7",
    "$.i, 1E+2",
    "lax $.n, ",
    "lax $.missing.b, ",
    "lax $.a, ",
    "lax $.a.b[3], ",
    "lax $.a.b.k, "
  })
  void valuesAreFoundByTheirPaths(String path, String expected) {
    assertThat(of("JSON_VALUE", TEXT, path)).isEqualTo(expected);
    assertThat(of("JSON_EXISTS", TEXT, path)).isEqualTo(expected != null || path.equals("lax $.a"));
  }

  @Test
  void escapesOfStringsAreResolved() {
    assertThat(of("JSON_VALUE", TEXT, "$.s")).isEqualTo("xé/\n😀");
    assertThat(of("JSON_VALUE", "\"\\ud800\"", "$")).isEqualTo("?");
  }

  @Test
  void theLastOfSeveralMembersOfANameCounts() {
    assertThat(of("JSON_VALUE", "{\"a\":1,\"\\u0061\":2}", "$.a")).isEqualTo("2");
    assertThat(of("JSON_VALUE", "{\"a\":{\"b\":1},\"a\":{\"c\":2}}", "lax $.a.b")).isNull();
  }

  @Test
  void emptyAndErrorAreToldApart() {
    Object[] clauses = {"DEFAULT", "empty", "EMPTY", "DEFAULT", "error", "ERROR"};
    for (String text : List.of("{}", "{\"a\":null}", "{\"a\":[]}", "[1]", "{\"a\":1", "")) {
      assertThat(ofClauses(text, "lax $.a", clauses)).as(text).isEqualTo("empty");
      assertThat(ofClauses(text, "$.a", clauses)).as(text).isEqualTo("error");
    }
    assertThat(ofClauses(" null x", "lax $.a", clauses)).isEqualTo("error");
  }

  private Object ofClauses(String text, String path, Object... clauses) {
    List<Object> rest = new ArrayList<>(List.of(path));
    rest.addAll(Arrays.asList(clauses));
    return of("JSON_VALUE", text, rest.toArray());
  }

  @Test
  void onErrorMayFail() {
    assertThat(of("JSON_VALUE", "[]", "$.a")).isNull();
    assertThatThrownBy(() -> of("JSON_VALUE", "[]", "$.a", "ERROR", "ERROR"))
        .isInstanceOf(EvaluationException.class);
    assertThatThrownBy(() -> of("JSON_VALUE", "[]", "lax $.a", "ERROR", "EMPTY"))
        .isInstanceOf(EvaluationException.class);
    assertThat(of("JSON_EXISTS", "[]", "$.a")).isEqualTo(false);
    assertThat(of("JSON_EXISTS", "[]", "$.a", "TRUE")).isEqualTo(true);
    assertThat(of("JSON_EXISTS", "[]", "$.a", "UNKNOWN")).isNull();
    assertThatThrownBy(() -> of("JSON_EXISTS", "[]", "$.a", "ERROR"))
        .isInstanceOf(EvaluationException.class);
  }

  @Test
  void valuesHaveTheTypeThatIsReturned() {
    assertThat(of("JSON_VALUE", "[-12]", "$[0]", "RETURNING", "INT")).isEqualTo(-12);
    assertThat(of("JSON_VALUE", "[false]", "$[0]", "RETURNING", "BOOLEAN")).isEqualTo(false);
    assertThat(of("JSON_VALUE", "[-2.5e-3]", "$[0]", "RETURNING", "DOUBLE")).isEqualTo(-2.5e-3);
    assertThat(of("JSON_VALUE", "[-0.0]", "$[0]", "RETURNING", "DOUBLE")).isEqualTo(0.0);
    assertThat(of("JSON_VALUE", "[]", "$[0]", "RETURNING", "INT", "DEFAULT", 5, "ERROR"))
        .isEqualTo(5);
  }

  @ParameterizedTest
  @CsvSource({
    "1.0, INT",
    "2147483648, INT",
    "'\"1\"', INT",
    "1, DOUBLE",
    "'\"true\"', BOOLEAN",
    "0, BOOLEAN"
  })
  void otherTypesFail(String text, String type) {
    assertThatThrownBy(() -> of("JSON_VALUE", text, "$", "RETURNING", type))
        .isInstanceOf(EvaluationException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a",
        "$a",
        "$.",
        "$.*",
        "$..a",
        "$[*]",
        "$[0,1]",
        "$[0:1]",
        "$[?(@.a)]",
        "$.a.length()",
        "$['a','b']",
        "$.a ",
        " $.a",
        "lax",
        "$[a]",
        "$['a\\'b']",
        "$[9999999999]",
        "$.a b"
      })
  void pathsOfOtherFormsAreRefused(String path) {
    assertThatThrownBy(() -> of("JSON_VALUE", "{}", path))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("expected a path of members and indices, such as 'lax $.name[0]'");
  }

  @Test
  void argumentsOfOtherFormsAreRefused() {
    refused("expected RETURNING STRING, BOOLEAN, INT or DOUBLE", "$", "RETURNING", "BIGINT");
    refused("expected a literal of STRING as DEFAULT, got 1", "$", "DEFAULT", 1, "EMPTY");
    refused("expected a literal of STRING as DEFAULT", "$", "DEFAULT", col("a"), "EMPTY");
    refused("a DEFAULT with RETURNING DOUBLE", "$", "RETURNING", "DOUBLE", "DEFAULT", 1.0, "EMPTY");
    refused("expected 'NULL' or 'ERROR' or 'DEFAULT', got 'TRUE'", "$", "TRUE", "EMPTY");
    refused("expected 'EMPTY' or 'ERROR', got 'NULL'", "$", "NULL", "NULL");
    refused("expected at least 4 arguments, got 3", "$", "NULL");
    refused("expected a STRING literal", col("a"));
  }

  private void refused(String message, Object... rest) {
    assertThatThrownBy(() -> of("JSON_VALUE", "{}", rest))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @CsvSource({
    "'{\"a\":1} x', true, true, false, false",
    "'[1]]', true, false, true, false",
    "'\"x\"y', true, false, false, true",
    "null, true, false, false, true",
    "true$, true, false, false, true",
    "' 1 2', true, false, false, true",
    "truex, false, false, false, false",
    "'1,', false, false, false, false",
    "'[1,]', false, false, false, false",
    "'{\"a\":1,}', false, false, false, false",
    "01, false, false, false, false",
    "'', false, false, false, false",
    "1e99999999999, false, false, false, false"
  })
  void jsonIsToldFromOtherTexts(
      String text, boolean isJson, boolean isObject, boolean isArray, boolean isScalar) {
    assertThat(of("IS JSON VALUE", text)).isEqualTo(isJson);
    assertThat(of("IS NOT JSON VALUE", text)).isEqualTo(!isJson);
    assertThat(of("IS JSON OBJECT", text)).isEqualTo(isObject);
    assertThat(of("IS JSON ARRAY", text)).isEqualTo(isArray);
    assertThat(of("IS JSON SCALAR", text)).isEqualTo(isScalar);
  }

  @Test
  void nullIsNotJson() {
    assertThat(of("IS JSON VALUE", null)).isEqualTo(false);
    assertThat(of("IS NOT JSON SCALAR", null)).isEqualTo(true);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "$; WITHOUT_ARRAY; {\"a\":{\"b\":[1.50,{}],\"c\":\"\\u001F/\\n\\\"é\"},\"s\":-0.1}",
        "$.a.b; WITHOUT_ARRAY; [1.50,{}]",
        "$.a.b; WITH_CONDITIONAL_ARRAY; [1.50,{}]",
        "$.a.b; WITH_UNCONDITIONAL_ARRAY; [[1.50,{}]]",
        "$.a.b[1]; WITH_CONDITIONAL_ARRAY; [{}]",
        "$.s; WITH_CONDITIONAL_ARRAY; [-0.1]",
        "lax $.s; WITHOUT_ARRAY; {}",
        "lax $.missing; WITH_UNCONDITIONAL_ARRAY; {}",
        "$.s; WITHOUT_ARRAY; []",
        "$.missing; WITH_UNCONDITIONAL_ARRAY; []"
      })
  void objectsAndArraysAreWritten(String path, String wrapper, String expected) {
    String text =
        " {\"s\" : -0.1, \"a\": {\"c\": \"\\u001f\\/\\n\\\"\\u00e9\", \"b\" : [ 1.50 , { } ] } } ";
    assertThat(of("JSON_QUERY", text, path, wrapper, "EMPTY_OBJECT", "EMPTY_ARRAY"))
        .isEqualTo(expected);
  }

  @Test
  void numbersAndNamesAreWrittenAsByJackson() {
    assertThat(of("JSON_QUERY", "[1e2, -0, -0.00, 0.0000001]", "$"))
        .isEqualTo("[1E+2,0,0.00,1E-7]");
    assertThat(of("JSON_QUERY", "{\"b\":1,\"\\u0061\":2,\"b\":3}", "$"))
        .isEqualTo("{\"a\":2,\"b\":3}");
    assertThat(of("JSON_QUERY", "{\"\uffee\":1,\"😀\":2}", "$"))
        .isEqualTo("{\"😀\":2,\"\uffee\":1}");
  }

  @Test
  void valuesAreNestedUpToAThousandDeep() {
    assertThat(of("IS JSON ARRAY", "[".repeat(1000) + "]".repeat(1000))).isEqualTo(true);
    assertThat(of("IS JSON ARRAY", "[".repeat(1001) + "]".repeat(1001))).isEqualTo(false);
  }

  private void fails(String reason, String function, String text, Object... rest) {
    assertThatThrownBy(() -> of(function, text, rest))
        .isInstanceOf(EvaluationException.class)
        .hasMessageContaining("invalid argument in " + function)
        .cause()
        .isInstanceOf(InvalidArgumentException.class)
        .hasMessageStartingWith(reason);
  }

  @Test
  void failuresSayWhyInTheWordsOfFlink() {
    fails("No results for path: $['a'][0]", "JSON_EXISTS", "{\"a\":[]}", "strict $.a[0]", "ERROR");
    fails("No results for path: $['b']", "JSON_VALUE", "{}", "strict $.b", "ERROR", "ERROR");
    fails(
        "Empty result of JSON_VALUE function is not allowed",
        "JSON_VALUE",
        "{}",
        "lax $.b",
        "ERROR",
        "EMPTY");
    fails(
        "Strict jsonpath mode requires scalar value, and the actual value is: ''[1]''",
        "JSON_VALUE",
        "{\"a\":[1]}",
        "strict $.a",
        "ERROR",
        "ERROR");
    fails(
        "Empty result of JSON_QUERY",
        "JSON_QUERY",
        "{}",
        "lax $.b",
        "WITHOUT_ARRAY",
        "ERROR",
        "ERROR");
    fails(
        "No results for path: $['b']",
        "JSON_QUERY",
        "{}",
        "strict $.b",
        "WITHOUT_ARRAY",
        "ERROR",
        "ERROR");
    fails(
        "Strict jsonpath mode requires array or object value, and the actual value is: ''x''",
        "JSON_QUERY",
        "{\"a\":\"x\"}",
        "strict $.a",
        "WITHOUT_ARRAY",
        "ERROR",
        "ERROR");
    fails("Invalid JSON string in JSON(value) function: \"{\". Error: ", "JSON", "{");
  }
}
