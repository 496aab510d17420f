// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.string;

import static io.millrace.expression.Expressions.call;
import static io.millrace.expression.Expressions.col;
import static io.millrace.expression.Expressions.lit;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.column.DataType;
import io.millrace.column.Schema;
import io.millrace.expression.Expression;
import io.millrace.expression.Expressions;
import io.millrace.expression.error.EvaluationException;
import io.millrace.expression.error.ExpressionException;
import io.millrace.expression.function.FunctionCalls;
import io.millrace.expression.resolve.ExpressionResolver;
import io.millrace.expression.resolve.ResolutionContext;
import io.millrace.testing.DeviceExtension;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** String functions, compared with Flink 2.3's SqlFunctionUtils and BinaryStringDataUtil. */
class StringFunctionsTest {
  @RegisterExtension final DeviceExtension device = new DeviceExtension();
  private final FunctionCalls calls = new FunctionCalls(device);

  @Test
  void lengthsCountCodePoints() {
    assertThat(calls.of("CHAR_LENGTH", "aß漢😀")).isEqualTo(4);
    assertThat(calls.of("CHARACTER_LENGTH", "")).isEqualTo(0);
    assertThat(calls.of("CHAR_LENGTH", (Object) null)).isNull();
  }

  @Test
  void malformedBytesCountByTheirLeadingByte() {
    byte[] bytes = {
      'a', (byte) 0x80, (byte) 0xe2, 'b', 'c', (byte) 0xc0, (byte) 0xc1, (byte) 0xf0, 'd'
    };
    assertThat(
            calls.evaluate(
                call("CHAR_LENGTH", call("FROM_BASE64", call("TO_BASE64", col("a")))),
                List.of(List.of(ByteBuffer.wrap(bytes)))))
        .containsExactly(6);
  }

  @ParameterizedTest
  @CsvSource({
    "1, 2, ab",
    "2, 9, b漢😀",
    "0, 1, a",
    "-2, 1, 漢",
    "-4, 9, ab漢😀",
    "-5, 9, ''",
    "5, 1, ''",
    "2, 0, ''",
    "1, -1, ",
    "2147483647, 1, ''",
    "-2147483648, 1, ''",
    "1, 2147483647, ab漢😀"
  })
  void substringCountsFromEitherEnd(int start, int count, String expected) {
    assertThat(calls.of("SUBSTRING", "ab漢😀", start, count)).isEqualTo(expected);
  }

  @Test
  void substringGoesToTheEndWithoutACount() {
    assertThat(calls.of("SUBSTR", "hamburger", 5)).isEqualTo("urger");
    assertThat(calls.of("SUBSTRING", "hamburger", -3)).isEqualTo("ger");
    assertThat(calls.of("SUBSTRING", "hamburger", -10)).isEqualTo("");
  }

  @Test
  void endsAreOfCodePoints() {
    assertThat(calls.of("LEFT", "😀漢a", 2)).isEqualTo("😀漢");
    assertThat(calls.of("RIGHT", "😀漢a", 2)).isEqualTo("漢a");
    assertThat(calls.of("LEFT", "abc", -1)).isEqualTo("");
    assertThat(calls.of("RIGHT", "abc", 0)).isEqualTo("");
    assertThat(calls.of("RIGHT", "abc", 2147483647)).isEqualTo("abc");
  }

  @Test
  void positionTypesThatFlinkRejectsAreRefused() {
    assertThatThrownBy(() -> calls.of("SUBSTRING", "abc", 1L))
        .isInstanceOf(ExpressionException.class)
        .hasMessageContaining("b is BIGINT");
  }

  @ParameterizedTest
  @CsvSource({
    "TRIM, 'xayx', 'x', ay",
    "'TRIM LEADING', 'xyax', 'yx', ax",
    "'TRIM TRAILING', 'axy', 'xyz', a",
    "BTRIM, '漢a漢', '漢', a",
    "LTRIM, 'ßéa', 'éß', a",
    "RTRIM, 'aß', 'é', aß",
    "TRIM, 'a', '', a",
    "TRIM, 'aaa', 'a', ''",
    "LTRIM, ' 😀 ', ' 😀', ''"
  })
  void trimsCharactersOfASet(String function, String text, String characters, String expected) {
    assertThat(calls.of(function, text, characters)).isEqualTo(expected);
  }

  @Test
  void trimsOnlySpacesByDefault() {
    assertThat(calls.of("TRIM", "  \ta ")).isEqualTo("\ta");
    assertThat(calls.of("LTRIM", "  a ")).isEqualTo("a ");
    assertThat(calls.of("RTRIM", "  a ")).isEqualTo("  a");
    assertThat(calls.of("BTRIM", "   ")).isEqualTo("");
  }

  @Test
  void positionsAreOfCodePoints() {
    assertThat(calls.of("POSITION", "b", "漢😀b")).isEqualTo(3);
    assertThat(calls.of("POSITION", "x", "漢😀b")).isEqualTo(0);
    assertThat(calls.of("POSITION", "", "")).isEqualTo(1);
    assertThat(calls.of("LOCATE", "b", "abcb", 3)).isEqualTo(4);
    assertThat(calls.of("LOCATE", "b", "abcb", -7)).isEqualTo(2);
    assertThat(calls.of("LOCATE", "b", "abcb", -2147483648)).isEqualTo(0);
    assertThat(calls.of("LOCATE", "", "abc", 9)).isEqualTo(1);
  }

  @Test
  void instrFindsTheNthOccurrenceFromEitherEnd() {
    assertThat(calls.of("INSTR", "漢aaa", "aa")).isEqualTo(2);
    assertThat(calls.of("INSTR", "漢aaa", "aa", 1, 2)).isEqualTo(3);
    assertThat(calls.of("INSTR", "漢aaa", "aa", 1, 3)).isEqualTo(0);
    assertThat(calls.of("INSTR", "漢aaa", "aa", -1)).isEqualTo(3);
    assertThat(calls.of("INSTR", "漢aaa", "aa", -2, 1)).isEqualTo(2);
    assertThat(calls.of("INSTR", "漢aaa", "漢", -1, 2)).isEqualTo(0);
    assertThat(calls.of("INSTR", "abc", "", -3, 1)).isEqualTo(4);
    assertThat(calls.of("INSTR", "abc", "a", 0)).isEqualTo(0);
    assertThatThrownBy(() -> calls.of("INSTR", "abc", "a", 0, 0))
        .isInstanceOf(EvaluationException.class)
        .hasMessageContaining("invalid argument");
  }

  @Test
  void malformedBytesAreCountedFromBothEnds() {
    // Forwards a leading byte takes what follows it, backwards what continues is one code point.
    assertThat(ofBytes("INSTR", "61 f0 62 63 64", "61", lit(-1))).isEqualTo(-2);
  }

  @Test
  void separatorsAreSoughtInDecodedText() {
    assertThat(ofBytes("SPLIT_INDEX", "61 ff 62", "ef bf bd", lit(1))).isEqualTo("b");
    assertThat(ofBytes("SPLIT_INDEX", "61 ff c3 a9 62", "c3 a9", lit(1))).isEqualTo("b");
  }

  private Object ofBytes(String function, String text, String other, Expression rest) {
    List<Object> row = new ArrayList<>();
    for (String hex : List.of(text, other)) {
      row.add(ByteBuffer.wrap(HexFormat.ofDelimiter(" ").parseHex(hex)));
    }
    return calls.evaluate(call(function, text("a"), text("b"), rest), List.of(row)).get(0);
  }

  private static Expression text(String column) {
    return call("FROM_BASE64", call("TO_BASE64", col(column)));
  }

  @Test
  void affixesAreBytes() {
    assertThat(calls.of("STARTSWITH", "漢字", "漢")).isEqualTo(true);
    assertThat(calls.of("ENDSWITH", "漢字", "字")).isEqualTo(true);
    assertThat(calls.of("ENDSWITH", "字", "漢字")).isEqualTo(false);
    assertThat(calls.of("STARTSWITH", bytes("ab"), bytes(""))).isEqualTo(true);
    assertThat(calls.of("ENDSWITH", bytes("ab"), bytes("a"))).isEqualTo(false);
  }

  @Test
  void caseMappingIsLocaleIndependent() {
    assertThat(calls.of("UPPER", "Title i")).isEqualTo("TITLE I");
    assertThat(calls.of("LOWER", "TITLE I")).isEqualTo("title i");
    assertThat(calls.of("UPPER", "Straße i")).isEqualTo("STRASSE I");
    assertThat(calls.of("LOWER", "İ")).isEqualTo("i̇");
    assertThat(calls.of("INITCAP", "hELLO wORLD, éCLAIR 4th")).isEqualTo("Hello World, éClair 4th");
  }

  @Test
  void joins() {
    assertThat(calls.of("||", "漢", "a")).isEqualTo("漢a");
    assertThat(calls.of("||", "a", null)).isNull();
    assertThat(calls.of("CONCAT", "a", "", "c")).isEqualTo("ac");
    assertThat(calls.of("CONCAT", "a", null, "c")).isNull();
    assertThat(calls.of("CONCAT_WS", "-", null, "a", null, "b")).isEqualTo("a-b");
    assertThat(calls.of("CONCAT_WS", "-", "", "", "b")).isEqualTo("--b");
    assertThat(calls.of("CONCAT_WS", "-", null, null)).isEqualTo("");
    assertThat(calls.of("CONCAT_WS", null, "a")).isNull();
    assertThat(calls.of("CONCAT_WS", "-")).isEqualTo("");
  }

  @Test
  void eltSelectsAndMayBeNull() {
    assertThat(calls.of("ELT", 2, "a", "b")).isEqualTo("b");
    assertThat(calls.of("ELT", 3, "a", "b")).isNull();
    assertThat(calls.of("ELT", 0, "a", "b")).isNull();
    assertThat(calls.of("ELT", 1, "a", null)).isEqualTo("a");
    assertThat(calls.ofRows("ELT", List.of(Arrays.asList(null, "a"), List.of(1, "b"))))
        .containsExactly(null, "b");
  }

  @Test
  void replaces() {
    assertThat(calls.of("REPLACE", "aaa", "aa", "b")).isEqualTo("ba");
    assertThat(calls.of("REPLACE", "ab", "", "-")).isEqualTo("-a-b-");
    assertThat(calls.evaluate(call("REPLACE", col("a"), "ß", "ss"), List.of(List.of("aßßb"))))
        .containsExactly("assssb");
    assertThat(calls.of("TRANSLATE", "漢abcab", "ab漢b", "x😀")).isEqualTo("x😀cx😀");
    assertThat(calls.of("TRANSLATE", "abc", null, "x")).isEqualTo("abc");
    assertThat(calls.of("TRANSLATE", "abc", "b", null)).isEqualTo("ac");
    assertThat(calls.of("TRANSLATE", null, "b", "x")).isNull();
  }

  @ParameterizedTest
  @CsvSource({
    "abcdef, XY, 3, abXYef",
    "abcdef, XY, 6, abcdeXY",
    "abc, X, 0, abc",
    "abc, X, 4, abc",
    "漢字, XYZ, 2, 漢XYZ"
  })
  void overlayReplacesTheLengthOfTheReplacement(
      String text, String by, int start, String expected) {
    assertThat(
            calls.evaluate(
                call("OVERLAY", col("a"), col("b"), lit((long) start)), List.of(List.of(text, by))))
        .containsExactly(expected);
  }

  @Test
  void overlayReplacesTheGivenLength() {
    assertThat(calls.of("OVERLAY", "abcdef", "X", 2L, 3L)).isEqualTo("aXef");
    assertThat(calls.of("OVERLAY", "abcdef", "X", 2L, 0L)).isEqualTo("aX");
    assertThat(calls.of("OVERLAY", "abcdef", "X", 2L, 1L << 32)).isEqualTo("aX");
    assertThatThrownBy(() -> calls.of("OVERLAY", "abc", "X", 2L, 2147483647L))
        .isInstanceOf(EvaluationException.class);
  }

  @Test
  void pads() {
    for (Object units : Arrays.asList(col("b"), lit(5))) {
      List<List<Object>> rows = List.of(List.of("ab", 5, "xß"));
      assertThat(calls.evaluate(call("LPAD", col("a"), units, col("c")), rows))
          .containsExactly("xßxab");
      assertThat(calls.evaluate(call("RPAD", col("a"), units, col("c")), rows))
          .containsExactly("abxßx");
    }
    assertThat(calls.of("LPAD", "abc", 2, "x")).isEqualTo("ab");
    assertThat(calls.of("LPAD", "abc", -1, "x")).isNull();
    assertThat(calls.of("RPAD", "abc", 9, "")).isNull();
    assertThat(calls.of("RPAD", "", 0, "x")).isEqualTo("");
    assertThat(calls.of("RPAD", "a😀", 2, "x")).isEqualTo("a?");
  }

  @Test
  void repeatsAndReverses() {
    assertThat(calls.of("REPEAT", "ab", 3)).isEqualTo("ababab");
    assertThat(calls.of("REPEAT", "ab", -3)).isEqualTo("");
    assertThat(calls.evaluate(call("REPEAT", col("a"), 2), List.of(List.of("漢"))))
        .containsExactly("漢漢");
    assertThat(calls.of("REVERSE", "a漢😀")).isEqualTo("😀漢a");
  }

  @Test
  void chrTakesTheLowestByte() {
    assertThat(calls.of("ASCII", "abc")).isEqualTo(97);
    assertThat(calls.of("ASCII", "é")).isEqualTo(-61);
    assertThat(calls.of("ASCII", "")).isEqualTo(0);
    assertThat(calls.of("CHR", 97L)).isEqualTo("a");
    assertThat(calls.of("CHR", 233L + 256)).isEqualTo("é");
    assertThat(calls.of("CHR", 0L)).isEqualTo("\0");
    assertThat(calls.of("CHR", -1L)).isEqualTo("");
  }

  @Test
  void predicatesAreFalseForNull() {
    List<List<Object>> rows =
        Stream.of("abc", "é", "a1", "", null, "12", "١", "-1.5e3", " 1f ", "0x1p3", "1e", "NaN")
            .map(Arrays::<Object>asList)
            .toList();
    assertThat(calls.ofRows("IS_ALPHA", rows).stream().map(Boolean.class::cast).toList())
        .containsExactly(
            true, true, false, false, false, false, false, false, false, false, false, true);
    assertThat(calls.ofRows("IS_DIGIT", rows).stream().map(Boolean.class::cast).toList())
        .containsExactly(
            false, false, false, false, false, true, true, false, false, false, false, false);
    assertThat(calls.ofRows("IS_DECIMAL", rows).stream().map(Boolean.class::cast).toList())
        .containsExactly(
            false, false, false, false, false, true, true, true, true, true, false, true);
  }

  @Test
  void predicatesOfNumbersDependOnTheType() {
    assertThat(calls.of("IS_DIGIT", 5)).isEqualTo(true);
    assertThat(calls.of("IS_DIGIT", 5.0)).isEqualTo(false);
    assertThat(calls.of("IS_DECIMAL", 5.0)).isEqualTo(true);
    assertThat(calls.of("IS_ALPHA", 5L)).isEqualTo(false);
    assertThat(calls.ofRows("IS_DIGIT", List.of(Arrays.asList((Object) null), List.of(1))))
        .containsExactly(true, true);
    assertThat(calls.evaluate(call("IS_DECIMAL", Expressions.decimal("1.5")), List.of(List.of(1))))
        .containsExactly(false);
  }

  @ParameterizedTest
  @CsvSource({
    "'a,b,,c,', ',', 2, ''",
    "'a,b,,c,', ',', 3, c",
    "'a,b,,c,', ',', 4, ''",
    "'a,b', ',', 2, ",
    "'a,b', ',', -1, ",
    "'', ',', 0, ",
    "'a--b', '--', 1, b",
    "'a b\tc', '', 2, c",
    "abc, x, 0, abc"
  })
  void splitIndexKeepsEmptyParts(String text, String separator, int index, String expected) {
    assertThat(calls.of("SPLIT_INDEX", text, separator, index)).isEqualTo(expected);
  }

  @Test
  void splitIndexTakesTheCodeOfACharacter() {
    assertThat(calls.of("SPLIT_INDEX", "1é2", 233, 1)).isEqualTo("2");
    assertThat(calls.of("SPLIT_INDEX", "1,2", 0, 0)).isNull();
    assertThat(calls.of("SPLIT_INDEX", "1,2", 256, 0)).isNull();
  }

  @Test
  void typesMatchFlink() {
    assertThat(isNullable(call("SUBSTRING", "a", 1))).isTrue();
    assertThat(isNullable(call("REVERSE", "a"))).isTrue();
    assertThat(isNullable(call("UPPER", "a"))).isFalse();
    assertThat(isNullable(call("IS_ALPHA", Expressions.nullOf(DataType.STRING)))).isFalse();
    assertThat(isNullable(call("LPAD", "a", 3, "x"))).isFalse();
    assertThat(isNullable(call("LPAD", "a", -3, "x"))).isTrue();
    assertThat(isNullable(call("TRANSLATE", "a", Expressions.nullOf(DataType.STRING), "x")))
        .isFalse();
  }

  private static boolean isNullable(Expression expression) {
    return new ExpressionResolver(new Schema(List.of()), ResolutionContext.DEFAULT)
        .resolve(expression)
        .nullable();
  }

  private static ByteBuffer bytes(String text) {
    return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
  }
}
