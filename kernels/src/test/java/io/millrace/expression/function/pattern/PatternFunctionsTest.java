// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.pattern;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static io.millrace.expression.Expressions.nullOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.calc.Calc;
import io.millrace.column.DataType;
import io.millrace.column.DataType.Field;
import io.millrace.column.Schema;
import io.millrace.column.Table;
import io.millrace.expression.Expression;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.FunctionCalls;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.expression.typed.TypedExpression;
import io.millrace.testing.DeviceExtension;
import io.millrace.testing.TableBuilder;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PatternFunctionsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();

  @Test
  void likeIsNullForNullsOnly() {
    List<Object> strings = Arrays.asList("abc", null, "a\nc", "a😀c", "");
    assertThat(evaluate(call("LIKE", col("s"), "a_c"), strings))
        .containsExactly(true, null, false, true, false);
    assertThat(evaluate(call("NOT LIKE", col("s"), "a%"), strings))
        .containsExactly(false, null, false, false, true);
    assertThat(evaluate(call("LIKE", col("s"), nullOf(DataType.STRING)), strings))
        .containsOnlyNulls();
  }

  @Test
  void likeTakesPatternsFromRows() {
    List<Object> strings = Arrays.asList("a%", "a_", "%", null);
    assertThat(evaluate(call("LIKE", lit("ab"), col("s")), strings))
        .containsExactly(true, true, true, null);
    assertThat(evaluate(call("LIKE", lit("a%"), col("s"), lit("b")), strings))
        .containsExactly(true, true, true, null);
    assertThatThrownBy(() -> evaluate(call("LIKE", lit("a"), col("s"), lit("%")), strings))
        .isInstanceOf(EvaluationException.class)
        .hasMessageContaining("invalid argument");
  }

  @Test
  void malformedPatternsOfRowsAreDecoded() {
    byte[] pattern = {'%', (byte) 0xff, 'b'};
    FunctionCalls calls = new FunctionCalls(device);
    assertThat(
            calls.evaluate(
                call("LIKE", lit("a\ufffdb"), call("FROM_BASE64", call("TO_BASE64", col("a")))),
                List.of(List.of(ByteBuffer.wrap(pattern)))))
        .containsExactly(true);
  }

  @Test
  void similarToMatchesTheWholeString() {
    List<Object> strings = Arrays.asList("abab", "abc", null, "", "12");
    assertThat(evaluate(call("SIMILAR TO", col("s"), "(ab|c)*"), strings))
        .containsExactly(true, true, null, true, false);
    assertThat(evaluate(call("NOT SIMILAR TO", col("s"), "[[:DIGIT:]]+"), strings))
        .containsExactly(true, true, null, true, false);
    assertThat(evaluate(call("SIMILAR TO", lit("a%"), "a#%", "#"), strings)).containsOnly(true);
    assertThat(evaluate(call("SIMILAR TO", lit("a"), col("s")), List.of("a", "_|b", "b")))
        .containsExactly(true, true, false);
  }

  @ParameterizedTest
  @CsvSource({"[a, (a", "'(a', (a", "a], ]", "[[:greek:]], greek"})
  void similarToRefusesMalformedPatterns(String pattern) {
    assertThatThrownBy(() -> evaluate(call("SIMILAR TO", col("s"), pattern), List.of("a")))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("invalid regular expression");
  }

  @Test
  void regularExpressionsAreFoundAnywhere() {
    List<Object> strings = Arrays.asList("xaby", "b", null, "ab\n");
    assertThat(evaluate(call("REGEXP", col("s"), "ab$"), strings))
        .containsExactly(false, false, null, true);
    assertThat(evaluate(call("REGEXP", col("s"), "(a)b\\1?"), strings))
        .containsExactly(true, false, null, true);
    assertThat(evaluate(call("REGEXP_INSTR", col("s"), "b"), strings))
        .containsExactly(3, 1, null, 2);
    assertThat(evaluate(call("REGEXP_SUBSTR", col("s"), "a."), strings))
        .containsExactly("ab", null, null, "ab");
  }

  @Test
  void positionsAreInUtf16() {
    assertThat(evaluate(call("REGEXP_INSTR", col("s"), "b"), List.of("é😀b"))).containsExactly(4);
  }

  @Test
  void groupsAreExtracted() {
    List<Object> strings = Arrays.asList("k=v", "=", null, "a=b c=d");
    assertThat(evaluate(call("REGEXP_EXTRACT", col("s"), "(\\w)=(\\w)", 2), strings))
        .containsExactly("v", null, null, "b");
    assertThat(evaluate(call("REGEXP_EXTRACT", col("s"), "(\\w)=(\\w)"), strings))
        .containsExactly("k=v", null, null, "a=b");
    assertThat(evaluate(call("REGEXP_EXTRACT", col("s"), "(\\w)=(\\w)", 3), strings))
        .containsOnlyNulls();
    assertThat(evaluate(call("REGEXP_EXTRACT", col("s"), "(\\w)=|(\\w)", 2), strings))
        .containsOnlyNulls();
  }

  @Test
  void allMatchesAreReplacedByALiteralReplacement() {
    List<Object> strings = Arrays.asList("a1b22", "", null, "é33");
    assertThat(evaluate(call("REGEXP_REPLACE", col("s"), "\\d+", "$1"), strings))
        .containsExactly("a$1b$1", "", null, "é$1");
    assertThat(evaluate(call("REGEXP_REPLACE", col("s"), "\\d+?", ""), strings))
        .containsExactly("ab", "", null, "é");
    assertThat(evaluate(call("REGEXP_REPLACE", col("s"), "\\d*", "-"), strings))
        .containsExactly("-a--b--", "-", null, "-é--");
    assertThat(evaluate(call("REGEXP_COUNT", col("s"), "\\d"), strings))
        .containsExactly(3, 0, null, 2);
    assertThat(evaluate(call("REGEXP_COUNT", col("s"), "\\d*"), strings))
        .containsExactly(5, 1, null, 3);
  }

  @Test
  void malformedPatternsMatchNothing() {
    List<Object> strings = Arrays.asList("a(", null);
    assertThat(evaluate(call("REGEXP", col("s"), "("), strings)).containsExactly(false, null);
    assertThat(evaluate(call("REGEXP", col("s"), ""), strings)).containsExactly(false, null);
    assertThat(evaluate(call("REGEXP_COUNT", col("s"), "("), strings)).containsOnlyNulls();
    assertThat(evaluate(call("REGEXP_INSTR", col("s"), "("), strings)).containsOnlyNulls();
    assertThat(evaluate(call("REGEXP_EXTRACT", col("s"), "("), strings)).containsOnlyNulls();
    assertThat(evaluate(call("REGEXP_REPLACE", col("s"), "(", "x"), strings)).containsOnlyNulls();
    assertThat(evaluate(call("REGEXP_INSTR", lit("a("), col("s")), strings))
        .containsExactly(null, null);
  }

  @ParameterizedTest
  @CsvSource({
    "a+, true, ''",
    "(a)\\1, false, 'it has the escape \\1'",
    "(a*)*, false, it repeats what may be empty",
    "'', false, the pattern is empty"
  })
  void saysWhyAPatternNeedsTheHost(String pattern, boolean onDevice, String reason) {
    TypedExpression.Call bound = bind(call("REGEXP", col("s"), pattern));
    assertThat(bound.function().device().isPresent()).isEqualTo(onDevice);
    if (!onDevice) {
      assertThat(bound.function().hostReason()).isEqualTo(reason);
    }
  }

  @Test
  void readsAsSqlAfterBinding() {
    assertThat(bind(call("LIKE", col("s"), "a#%", "#"))).hasToString("(s LIKE 'a#%' ESCAPE '#')");
    assertThat(bind(call("REGEXP_REPLACE", col("s"), "a", "b")))
        .hasToString("REGEXP_REPLACE(s, 'a', 'b')");
  }

  @Test
  void refusesOtherTypes() {
    assertThatThrownBy(() -> bind(call("LIKE", col("s"), 1)))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("1 is INT;");
    assertThatThrownBy(() -> bind(call("REGEXP_EXTRACT", col("s"), "a", "b")))
        .hasMessageContaining("'b' is STRING");
    assertThatThrownBy(() -> bind(call("REGEXP", col("s")))).hasMessageContaining("got 1");
  }

  private static TypedExpression.Call bind(Expression expression) {
    Schema schema = new Schema(List.of(new Field("s", DataType.STRING, true)));
    return (TypedExpression.Call)
        new ExpressionResolver(schema, ResolutionContext.DEFAULT).resolve(expression);
  }

  private List<Object> evaluate(Expression expression, List<?> strings) {
    try (Table table =
            new TableBuilder().column("s", DataType.STRING, strings.toArray()).build(device);
        Table result =
            Calc.of(
                    table.schema(),
                    Optional.empty(),
                    List.of(expression.as("r")),
                    ResolutionContext.DEFAULT)
                .apply(table, device.stream(), device.memory())) {
      List<Object> values = new ArrayList<>();
      device.rows(result).forEach(row -> values.add(row.get(0)));
      return values;
    }
  }
}
