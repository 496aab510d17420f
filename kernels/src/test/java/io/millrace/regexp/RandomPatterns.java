// SPDX-License-Identifier: Apache-2.0
package io.millrace.regexp;

import java.util.List;
import java.util.Random;

/** Random regular expressions and strings that often match them. */
public final class RandomPatterns {
  private static final List<String> CHARACTERS =
      List.of("a", "b", "c", "1", "_", " ", "é", "ﬀ", "😀", "\n", "\r", "\u0085", "\u2028");
  private static final List<String> ATOMS =
      List.of(
          "a",
          "b",
          "c",
          "é",
          "😀",
          ".",
          ".",
          "[ab]",
          "[^a]",
          "[a-c1]",
          "[^a-cé]",
          "\\d",
          "\\w",
          "\\W",
          "\\s",
          "\\S",
          "\\n",
          "[\\w-]",
          "\\p{Alpha}",
          "(?s:.)",
          "[^\\s_]",
          "\\u00e9");
  private static final List<String> QUANTIFIERS =
      List.of("?", "*", "+", "{2}", "{1,3}", "{2,}", "{0,2}", "??", "*?", "+?", "{1,3}?");

  private final Random random;

  public RandomPatterns(Random random) {
    this.random = random;
  }

  String pattern() {
    String begin = random.nextInt(6) == 0 ? one(List.of("^", "\\A")) : "";
    String end = random.nextInt(5) == 0 ? one(List.of("$", "\\z", "\\Z")) : "";
    return begin + alternatives(2) + end;
  }

  private String alternatives(int depth) {
    StringBuilder pattern = new StringBuilder(sequence(depth));
    while (random.nextInt(4) == 0) {
      pattern.append('|').append(sequence(depth));
    }
    return pattern.toString();
  }

  private String sequence(int depth) {
    StringBuilder pattern = new StringBuilder();
    int parts = random.nextInt(4);
    for (int i = 0; i <= parts; i++) {
      boolean isGroup = depth > 0 && random.nextInt(4) == 0;
      String open = random.nextBoolean() ? "(" : "(?:";
      pattern.append(isGroup ? open + alternatives(depth - 1) + ")" : one(ATOMS));
      if (random.nextInt(3) == 0) {
        pattern.append(one(QUANTIFIERS));
      }
    }
    if (random.nextInt(12) == 0) {
      pattern.append(one(List.of("$", "\\z", "|")));
    }
    return pattern.toString();
  }

  public String text() {
    StringBuilder text = new StringBuilder();
    for (int i = random.nextInt(12); i > 0; i--) {
      text.append(one(random.nextInt(3) == 0 ? CHARACTERS : CHARACTERS.subList(0, 3)));
    }
    return random.nextInt(6) == 0
        ? text + one(List.of("\n", "\r\n", "\r", "\u2029"))
        : text.toString();
  }

  public String likePattern() {
    StringBuilder pattern = new StringBuilder();
    for (int i = random.nextInt(7); i > 0; i--) {
      pattern.append(
          switch (random.nextInt(4)) {
            case 0 -> "%";
            case 1 -> "_";
            default -> one(CHARACTERS);
          });
    }
    return pattern.toString();
  }

  <T> T one(List<T> of) {
    return of.get(random.nextInt(of.size()));
  }
}
