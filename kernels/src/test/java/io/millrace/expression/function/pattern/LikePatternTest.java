// SPDX-License-Identifier: Apache-2.0
package io.millrace.expression.function.pattern;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.expression.error.ExpressionException;
import io.millrace.regexp.RandomPatterns;
import io.millrace.testing.RandomExtension;
import io.millrace.text.HostText;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LikePatternTest {
  private static final int PATTERNS = 10_000;
  private static final int TEXTS = 10;

  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void matchesLikeTheEquivalentRegularExpression() {
    RandomPatterns patterns = new RandomPatterns(random.random());
    for (int i = 0; i < PATTERNS; i++) {
      String pattern = patterns.likePattern();
      Pattern java = Pattern.compile(regex(pattern));
      LikePattern like = LikePattern.of(pattern);
      for (int j = 0; j < TEXTS; j++) {
        String string = j == 0 ? pattern : patterns.text();
        assertThat(matches(like, string))
            .as("'%s' LIKE '%s'", string, pattern)
            .isEqualTo(java.matcher(string).matches());
      }
    }
  }

  private static String regex(String pattern) {
    return pattern
        .codePoints()
        .mapToObj(
            codePoint ->
                switch (codePoint) {
                  case '%' -> "(?s:.*)";
                  case '_' -> ".";
                  default -> Pattern.quote(Character.toString(codePoint));
                })
        .collect(Collectors.joining());
  }

  @ParameterizedTest
  @CsvSource({
    "abc, like_equal",
    "'', like_equal",
    "a%, like_prefix",
    "%, like_prefix",
    "%a, like_suffix",
    "%a%, like_contains",
    "a%b, like_wildcards",
    "a_, like_wildcards",
    "%_%, like_wildcards",
    "%%a, like_wildcards"
  })
  void usesTheSimplestDeviceFunctionForThePattern(String pattern, String deviceFunction) {
    assertThat(LikePattern.of(pattern).deviceFunction()).isEqualTo(deviceFunction);
  }

  @ParameterizedTest
  @CsvSource({
    "a%, a#%, true",
    "ab, a#%, false",
    "_a, #_%, true",
    "ba, #_%, false",
    "a#, a##, true",
    "a%b, %#%_, true",
    "a%, %#%_, false"
  })
  void anEscapedWildcardIsItself(String string, String pattern, boolean matches) {
    assertThat(matches(LikePattern.of(pattern, "#"), string)).isEqualTo(matches);
  }

  @Test
  void aWildcardMayEscapeItself() {
    LikePattern like = LikePattern.of("a%%_", "%");
    assertThat(matches(like, "a%b")).isTrue();
    assertThat(matches(like, "axb")).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"a#b, #", "a#, #", "a_, ''", "a, ##", "a, 😀"})
  void refusesEscapesThatEscapeNothing(String pattern, String escape) {
    assertThatThrownBy(() -> LikePattern.of(pattern, escape))
        .isInstanceOf(ExpressionException.class)
        .hasMessageStartingWith("invalid escape");
  }

  @Test
  void anEmptyEscapeIsIgnoredIfThePatternNeedsNone() {
    assertThat(matches(LikePattern.of("a%", ""), "ab")).isTrue();
  }

  private static boolean matches(LikePattern like, String string) {
    try (HostText text = new HostText(string)) {
      return like.matches(text.address(), text.length());
    }
  }
}
