// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.testing.RandomExtension;
import io.millrace.text.HostText;
import io.millrace.text.PatternBytes;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DfaTest {
  private static final int PATTERNS = 4_000;
  private static final int TEXTS = 25;

  @RegisterExtension final RandomExtension random = new RandomExtension();

  private record Automata(Dfa contains, Dfa whole, Dfa locate, boolean matchesEmpty) {

    static Automata of(String pattern) throws UnsupportedPatternException {
      RegexpNode node = RegexpParser.parse(pattern);
      return new Automata(
          Dfa.of(node, Dfa.Search.CONTAINS),
          Dfa.of(node, Dfa.Search.WHOLE),
          Dfa.of(node, Dfa.Search.LOCATE),
          node.matchesEmpty());
    }
  }

  @Test
  void matchesLikeJavaForEachPatternOfTheSubset() {
    RandomPatterns patterns = new RandomPatterns(random.random());
    int supported = 0;
    for (int i = 0; i < PATTERNS; i++) {
      String pattern = patterns.pattern();
      Automata automata;
      try {
        automata = Automata.of(pattern);
      } catch (UnsupportedPatternException e) {
        continue;
      }
      supported++;
      compare(pattern, automata, patterns);
    }
    assertThat(supported).as("patterns of the subset").isGreaterThan(PATTERNS / 2);
  }

  private static void compare(String pattern, Automata automata, RandomPatterns patterns) {
    Pattern java = Pattern.compile(pattern);
    for (int i = 0; i < TEXTS; i++) {
      String string = patterns.text();
      String description = "/" + pattern + "/ in \"" + escaped(string) + "\"";
      try (HostText text = new HostText(string)) {
        Matcher matcher = java.matcher(string);
        boolean found = matcher.find();
        assertThat(automata.contains().contains(text.address(), text.length()))
            .as(description)
            .isEqualTo(found);
        int start = automata.locate().matchStart(text.address(), text.length(), 0);
        assertThat(start >= 0).as(description).isEqualTo(found);
        if (found) {
          int end = automata.locate().matchEnd(text.address(), text.length(), start);
          assertThat(text.text(start, end)).as(description).isEqualTo(matcher.group());
          assertThat(PatternBytes.utf16Length(text.address(), start))
              .as(description)
              .isEqualTo(matcher.start());
        }
        assertThat(automata.whole().matches(text.address(), text.length()))
            .as("%s as a whole", description)
            .isEqualTo(java.matcher(string).matches());
        if (!automata.matchesEmpty()) {
          assertThat(count(automata.locate(), text))
              .as(description)
              .isEqualTo(java.matcher(string).results().count());
        }
      }
    }
  }

  private static int count(Dfa locate, HostText text) {
    int count = 0;
    int start = locate.matchStart(text.address(), text.length(), 0);
    while (start >= 0) {
      count++;
      int end = locate.matchEnd(text.address(), text.length(), start);
      start = locate.matchStart(text.address(), text.length(), end);
    }
    return count;
  }

  private static String escaped(String text) {
    StringBuilder result = new StringBuilder();
    text.chars()
        .forEach(c -> result.append(c < ' ' || c > '~' ? String.format("\\u%04x", c) : (char) c));
    return result.toString();
  }

  @ParameterizedTest
  @CsvSource({
    "a|ab, xab, a",
    "ab|a, xab, ab",
    "a*?, aa, ''",
    "(a|ab)(c|bcd), abcd, abcd",
    "a+?b?, aab, a",
    "x{2}?, xxx, xx",
    "[^é]+, aéb, a",
    "é|a, bé, é"
  })
  void findsTheMatchOfTheFirstAlternativeNotTheLongest(String pattern, String string, String match)
      throws UnsupportedPatternException {
    Dfa locate = Dfa.of(RegexpParser.parse(pattern), Dfa.Search.LOCATE);
    try (HostText text = new HostText(string)) {
      int start = locate.matchStart(text.address(), text.length(), 0);
      int end = locate.matchEnd(text.address(), text.length(), start);
      assertThat(text.text(start, end)).isEqualTo(match);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(a*)*", "(a?){2}", "a$b", "(a$)*", "(a)\\1", "(?=a)", "(?i)a", "a*+", "a**", "\\bx",
            "\\Gx",
        "[a&&b]", "[a[b]]", "[😀]", "[^😀]", "\\p{IsGreek}", "\\ud83d", "(", ")", "a{", "{2}", "*a",
        "[b-a]", "[]", "a{2000}", "(?<n>a)", "\\Qa\\E", "\\0101", "\\x{61}", "\\", "[a", "\\x6"
      })
  void refusesPatternsOutsideTheSubset(String pattern) {
    assertThatThrownBy(() -> RegexpParser.parse(pattern))
        .isInstanceOf(UnsupportedPatternException.class);
  }

  @Test
  void refusesPatternsWithTooManyStates() throws UnsupportedPatternException {
    RegexpNode node = RegexpParser.parse("(a|b)*a(a|b){9}");
    assertThatThrownBy(() -> Dfa.of(node, Dfa.Search.CONTAINS))
        .hasMessage("its automaton has more than 255 states");
    RegexpNode large = RegexpParser.parse("(.{100}){200}");
    assertThatThrownBy(() -> Dfa.of(large, Dfa.Search.CONTAINS))
        .hasMessage("it has too many repetitions");
  }
}
