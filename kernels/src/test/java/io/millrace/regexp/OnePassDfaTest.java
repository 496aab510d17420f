// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.testing.RandomExtension;
import io.millrace.text.HostText;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OnePassDfaTest {
  private static final int PATTERNS = 10_000;
  private static final int TEXTS = 25;

  @RegisterExtension final RandomExtension random = new RandomExtension();

  @Test
  void capturesTheSameAsJava() {
    RandomPatterns patterns = new RandomPatterns(random.random());
    int supported = 0;
    for (int i = 0; i < PATTERNS; i++) {
      String pattern = patterns.pattern();
      int groups = Pattern.compile(pattern).matcher("").groupCount();
      for (int group = 1; group <= groups; group++) {
        OnePassDfa automaton;
        try {
          automaton = OnePassDfa.of(RegexpParser.parse(pattern), group);
        } catch (UnsupportedPatternException e) {
          continue;
        }
        supported++;
        compare(pattern, group, automaton, patterns);
      }
    }
    assertThat(supported).as("groups of one-pass patterns").isGreaterThan(PATTERNS / 40);
  }

  private static void compare(
      String pattern, int group, OnePassDfa automaton, RandomPatterns patterns) {
    Pattern java = Pattern.compile(pattern);
    for (int i = 0; i < TEXTS; i++) {
      String string = patterns.text();
      Matcher matcher = java.matcher(string);
      String expected = matcher.find() ? matcher.group(group) : null;
      assertThat(capture(automaton, string))
          .as("group %s of /%s/ in '%s'", group, pattern, string)
          .isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "(&|^)channel_id=([^&]*), 2, x?a=1&channel_id=app&b, app",
    "(&|^)channel_id=([^&]*), 1, channel_id=, ''",
    "(\\d+)-(\\d+), 2, a 12-345, 345",
    "^([^/]+)/([^/]*)$, 2, a/b, b",
    "(?:(a)|b)*, 1, abb, a",
    "(a)|(b), 1, b,"
  })
  void capturesGroupsOfOnePassPatterns(String pattern, int group, String string, String captured)
      throws UnsupportedPatternException {
    OnePassDfa automaton = OnePassDfa.of(RegexpParser.parse(pattern), group);
    assertThat(capture(automaton, string)).isEqualTo(captured);
  }

  @ParameterizedTest
  @ValueSource(strings = {".*=(.*)", "(a|ab)(c|bcd)", "(a*)a", "(a*?)(a|b)$"})
  void refusesPatternsThatNeedBacktracking(String pattern) {
    assertThatThrownBy(() -> OnePassDfa.of(RegexpParser.parse(pattern), 1))
        .isInstanceOf(UnsupportedPatternException.class);
  }

  private static String capture(OnePassDfa automaton, String string) {
    try (HostText text = new HostText(string)) {
      OnePassDfa.Span span = automaton.find(text.address(), text.length());
      return span.start() < 0 ? null : text.text(span.start(), span.end());
    }
  }
}
